import type { A2AEnvelope, A2AMessageType } from '../../runtime/protocol/envelope.ts';
import { errorToData } from '../../runtime/protocol/errors.ts';
import type { Verdict } from '../../runtime/protocol/policy.ts';
import type { RoutingResult } from '../../runtime/protocol/routing-result.ts';
import type { Seams } from '../../runtime/protocol/seams.ts';
import type { Taint } from '../../runtime/protocol/taint.ts';
import type { Behalf } from '../../runtime/public.ts';
import type { SwarmEvent } from './swarm-reach.ts';

/**
 * An envelope that the coordinator of an agent sends.
 *
 * - `metadata`     goes with it where the medium carries any.
 * - `taint`        where what it says came from outside, beside what is known of that.
 * - `behalf`       on whose behalf it is sent, where the medium carries that.
 * - `expectsReply` refused at once where the sandbox would not let the answer back.
 */
export interface SwarmLetter {
  readonly recipient: string;
  readonly type: A2AMessageType;
  readonly payload: unknown;
  readonly correlationId?: string;
  readonly inReplyTo?: string;
  readonly capability?: string;
  readonly deadlineAtMs?: number;
  readonly metadata?: Readonly<Record<string, unknown>>;
  readonly justification?: string;
  readonly expectsReply?: boolean;
  readonly taint?: Taint;
  readonly behalf?: Behalf | undefined;
}

/**
 * How a coordinator reaches others: in the name of one agent, under the rules that hold for it.
 *
 * - `isTold` says whether notifications to the agent itself find somebody who takes them.
 * - `taint`  where what the agent has in it came from outside. @default nothing did
 */
export interface SwarmMedium {
  readonly agentId: string;
  readonly seams: Pick<Seams, 'clock' | 'newId'>;
  readonly isTold: boolean;
  readonly taint?: Taint | undefined;
  /** Awaited before anything else, where the agent has to be made known first. */
  readonly open?: () => Promise<void>;
  /** Every other agent that it may see and that has the capability, in registration order. */
  whoOffers(capabilityId: string): readonly string[];
  /** As `SwarmReach.loadOf`. @default only what its coordinator has given an agent is known */
  loadOf?(agentId: string): number;
  /** Why the rules would refuse it; undefined when it may be sent. Sends nothing and is no event. */
  judge(letter: SwarmLetter): Verdict | undefined;
  /** Sends; `onMade` is told the envelope's id before anybody can answer it. Never rejects: a refusal is in the result. */
  send(letter: SwarmLetter, onMade?: (envelopeId: string) => void): Promise<RoutingResult>;
  /** Tells whoever watches. @default nobody does */
  note?(event: SwarmEvent): void;
  /** Shows `listener` every envelope that comes to the agent and may be meant for its coordinator, until it is closed. */
  listen(listener: (envelope: A2AEnvelope) => boolean): () => void;
}

/** The result for a letter that could not be made or sent. */
export function unsent({ recipient }: SwarmLetter, error: unknown): RoutingResult {
  const { code: errorCode, message } = errorToData(error, 'DELIVERY_FAILED');
  const failure = { error: message, errorCode };
  return { delivered: false, path: 'local', targetAgentId: recipient, ...failure };
}
