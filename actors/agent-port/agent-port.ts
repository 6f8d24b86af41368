import type { StepWatch } from '../../runtime/protocol/step-watch.ts';
import type { A2AEnvelope } from '../../runtime/protocol/envelope.ts';
import { errorToData } from '../../runtime/protocol/errors.ts';
import type { Verdict } from '../../runtime/protocol/policy.ts';
import type { Seams } from '../../runtime/protocol/seams.ts';
import type { SystemEvent } from '../../runtime/protocol/system-event.ts';
import type { Taint } from '../../runtime/protocol/taint.ts';
import type {
  AgentRecords,
  Asking,
  Behalf,
  Delegation,
  DelegationRecord,
  Outgoing,
  Sent,
} from '../../runtime/public.ts';

/**
 * An envelope that is sent over a port.
 *
 * - `capability`, `metadata` go with it over a router alone. In a running system agents are asked instead.
 */
export interface PortMessage extends Outgoing {
  readonly capability?: string;
  readonly metadata?: Readonly<Record<string, unknown>>;
}

/**
 * What an agent is handling.
 *
 * - `envelopeId`   of what it handles; undefined in `onStart`.
 * - `deadlineAtMs` Unix milliseconds.
 * - `signal`       aborts when the work is cancelled; undefined where what is begun in it outlives it.
 * - `isTriedAgain` a death cut off an earlier attempt.
 * - `isOver`       nothing more is sent from there.
 */
export interface Work {
  readonly envelopeId: string | undefined;
  readonly correlationId: string | undefined;
  readonly deadlineAtMs: number | undefined;
  readonly signal: AbortSignal | undefined;
  readonly isTriedAgain: boolean;
  readonly isOver: boolean;
}

/**
 * Through this the negotiator and the swarm coordinator act for one agent, under the rules that hold for it.
 *
 * A port belongs to one piece of `work`, or to none. What is sent through it belongs to that work: to its conversation, its
 * deadline, its budget and its path. So messages are data, and no context of a handler is handed over.
 */
export interface AgentPort {
  readonly agentId: string;
  readonly seams: Pick<Seams, 'clock' | 'newId'>;
  readonly work: Work | undefined;
  /** Those on the agent's card. */
  readonly capabilities: readonly string[];
  /** Envelopes that wait for the agent, and how many may. */
  readonly mailbox: { readonly waiting: number; readonly capacity: number };
  /** Where what the agent has in it came from outside. */
  readonly taint: Taint | undefined;
  /** What outlives the agent's thread and the process; only durable agents have it. */
  readonly records: Pick<AgentRecords, 'takeLeft' | 'put' | 'whenKept'> | undefined;
  /** Resolves when the agent can be answered. Awaited before anything is sent. */
  open(): Promise<void>;
  /** Says whether the agent itself handles this message type or capability. */
  handles(name: string): boolean;
  /** Every other agent that the agent may see and that has all these capabilities, in registration order. */
  whoOffers(capabilities: readonly string[]): readonly string[];
  /**
   * Envelopes that an agent has in hand and waiting, whoever gave them. 0 where nothing is known; Infinity for an agent that
   * takes none.
   */
  loadOf(agentId: string): number;
  /** Says whether what is sent to this agent outlives threads and process until it has an outcome. */
  isKeptFor(agentId: string): boolean;
  /** Why the rules would refuse it; undefined when it may be sent. Sends nothing and is no event. */
  judge(message: PortMessage): Verdict | undefined;
  /** Sends. `onSent` is told the envelope's id before anybody can answer it. Never rejects: a refusal is in the result. */
  send(message: PortMessage, onSent?: (envelopeId: string) => void): Promise<Sent>;
  /** Asks an agent; rejects as `Sender.ask` does. Undefined over a router alone, which carries envelopes and no asks. */
  readonly ask: ((asking: Asking) => Promise<unknown>) | undefined;
  /**
   * Shows `listener` every envelope that comes to the agent, until the returned function is called. In a running system the
   * interceptor brings them, and nothing is shown here.
   */
  listen(listener: (envelope: A2AEnvelope) => unknown): () => void;
  /** What is read or taken in now came from outside. */
  absorbTaint(taint: Taint): void;
  /** On whose behalf the work is done; beside any, what has just come in. Undefined where nothing is known of that. */
  behalf(): Behalf | undefined;
  /** What the work passes on to what is sent later because of it. Undefined where it passes nothing on. */
  delegate(): Delegation | undefined;
  /** One that a former thread or process has written down. */
  delegateAgain(record: DelegationRecord): Delegation | undefined;
  /** The agent was given `peer`'s proposal in a former life, and may answer it until then, Unix milliseconds. */
  holdGrant(envelopeId: string, peer: string, untilMs: number): void;
  /** The agent has no more to answer to `peer`'s envelope. */
  endGrant(envelopeId: string, peer: string): void;
  /** Of the machines that act for the agent. Undefined where nobody can watch. */
  readonly steps: StepWatch | undefined;
  /** Tells whoever watches the system. */
  note(event: Omit<SystemEvent, 'timestamp'>): void;
}

/** The result for a message that could not be made or sent. */
export function unsent({ recipient }: PortMessage, error: unknown): Sent {
  const { code: errorCode, message } = errorToData(error, 'DELIVERY_FAILED');
  const failure = { error: message, errorCode };
  return { delivered: false, path: 'local', targetAgentId: recipient, ...failure, envelopeId: '' };
}
