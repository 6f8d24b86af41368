import type { StepWatch } from '../protocol/step-watch.ts';
import type { Behalf } from '../mailbox/behalf.ts';
import type { SystemEvent } from '../protocol/system-event.ts';
import type { AgentCard, AgentTier } from '../protocol/agent-card.ts';
import type { Budget, Cost } from '../protocol/budget.ts';
import type { A2AEnvelope, A2AMessageType, Delivery, PathHop } from '../protocol/envelope.ts';
import type { ErrorData } from '../protocol/errors.ts';
import type { Verdict } from '../protocol/policy.ts';
import type { ActorRow } from '../protocol/roster.ts';
import type { RoutingResult } from '../protocol/routing-result.ts';
import type { Seams } from '../protocol/seams.ts';
import type { Taint } from '../protocol/taint.ts';
import type { AgentOffer } from '../routing/offered-profile.ts';
import type { EnvelopeHandler } from '../agent/agent-definition.ts';
import type { AgentRecords } from './agent-records.ts';
import type { ActorContext, AskOptions, HandlingContext } from '../agent/context.ts';
import type { Delegation, DelegationRecord } from './delegation.ts';

/**
 * An envelope to be sent to one agent.
 *
 * - `correlationId` @default that of the envelope being handled, else its own id
 * - `justification` why a lower tier writes to a higher one.
 * - `deadlineAtMs`  Unix milliseconds after which nobody waits for it.
 * - `expectsReply`  refused at once where the sandbox would not let the answer back. @default false
 * - `schema`        what the payload is.
 * - `taint`         where what it says came from outside, beside what the agent has in it.
 * - `isFrame`       it is a message of a shared document, whose members were judged when they joined: the rules for tiers do
 *                   not hold, those for sandboxes do. No handler gets it that it would not reach without. @default false
 * - `isFleeting`    it means nothing to another process: also a durable recipient's is not kept. @default false
 * - `delegation`    what it inherits, instead of from the envelope being handled.
 * - `behalf`        on whose behalf it is sent. @default that of `delegation`, else of the envelope being handled or shown
 * - `hops`          what stands on its path beside what it inherits.
 */
export interface Outgoing {
  readonly recipient: string;
  readonly type: A2AMessageType;
  readonly payload: unknown;
  readonly correlationId?: string;
  readonly inReplyTo?: string;
  readonly justification?: string;
  readonly deadlineAtMs?: number;
  readonly expectsReply?: boolean;
  readonly schema?: string;
  readonly taint?: Taint;
  readonly isFrame?: boolean;
  readonly isFleeting?: boolean;
  readonly delegation?: Delegation | undefined;
  readonly behalf?: Behalf | undefined;
  readonly hops?: readonly PathHop[];
}

/**
 * An ask of one agent.
 *
 * - `envelopeId`   makes it the same one when it is asked again, also in another thread or process: a durable agent that
 *                  has taken it takes it no second time, and answers as it did. @default an id of its own
 * - `deadlineAtMs` Unix milliseconds; that of the envelope being handled if it is earlier.
 * - `onProgress`   hears also of what an earlier asking of the same has an agent do.
 * - `budget`       as in `AskOptions`; `onSpent` is told what was spent of it by when the ask is over.
 * - `path`         the requests above it, oldest first. @default those above the envelope being handled
 * - `onBehalfOf`   whom the rules judge, instead of the agent: somebody outside, of this tier, in this sandbox or in none. Where
 *                  the embedder asks, and handles nothing, it is done for them, with `tenant` and `roles`, and deaths over it
 *                  are charged to them, by the name `chargedAs`. @default their id
 * - `behalf`       on whose behalf it is asked, while nothing is being handled.
 * - `isTool`       a call of a tool: judged by the sandbox and not by tier, and never tried again, whatever its agent says
 *                  of its other mail.
 */
export interface Asking
  extends Pick<
    AskOptions,
    'signal' | 'onSent' | 'onProgress' | 'onTaint' | 'metadata' | 'resumeFrom' | 'justification' | 'taint'
  > {
  readonly envelopeId?: string;
  readonly recipient: string;
  readonly capability: string;
  readonly payload: unknown;
  readonly correlationId?: string;
  readonly deadlineAtMs: number;
  readonly budget?: Budget;
  readonly onSpent?: (spent: Required<Cost>) => void;
  readonly path?: readonly PathHop[];
  readonly onBehalfOf?: {
    readonly id: string;
    readonly tier: AgentTier;
    readonly sandboxId?: string;
    readonly chargedAs?: string;
    readonly tenant?: string;
    readonly roles?: readonly string[];
  };
  readonly behalf?: Behalf | undefined;
  readonly isTool?: boolean;
}

/**
 * The cards of the agents that run here, as far as whoever holds this may see them.
 *
 * - `edition` another number whenever any of it may be another.
 */
export interface SeenTeam {
  readonly edition: number;
  /** In the order of registration. */
  cards(): readonly AgentCard[];
  /** Calls `listener` whenever `edition` is another number, until the returned function is called. */
  watch(listener: () => void): () => void;
}

/** What became of it, and under which id. */
export interface Sent extends RoutingResult {
  readonly envelopeId: string;
}

/**
 * What an interceptor can do in the name of one agent, whether that is handling something or not. It outlives the agent's
 * actors, and ends with its thread.
 */
export interface AgentClient {
  readonly agentId: string;
  readonly seams: Seams;
  /** What interceptors keep here, by their own names. */
  readonly held: Map<string, unknown>;
  /** What outlives the thread and the process; only durable agents have it. */
  readonly records: AgentRecords | undefined;
  /** Envelopes that wait for the agent, and how many may. */
  readonly mailbox: { readonly waiting: number; readonly capacity: number };
  /** The capabilities on its card. */
  readonly capabilities: readonly string[];
  /** Where what the agent has in it came from outside, and what is being shown to an interceptor. */
  readonly taint: Taint | undefined;
  /** The interceptor has taken this in for the agent, or hands out what was kept. `by`: for the work whose context that is. */
  absorbTaint(taint: Taint, by?: ActorContext<unknown>): void;
  /** Says whether the agent itself handles what names this message type or capability. */
  handles(name: string): boolean;
  /**
   * Every other agent with all these capabilities, in registration order, as far as the sandbox lets `seenBy` see them.
   * @default by the agent itself
   */
  whoOffers(capabilities: readonly string[], seenBy?: string): readonly string[];
  /**
   * Envelopes that an agent has in hand and that wait in its mailbox, whoever sent them, as its thread last wrote it: when
   * the agent last began or ended a turn. Infinity for one that takes none until somebody sees to it; 0 for one unknown.
   */
  loadOf(agentId: string): number;
  /** Who runs here, as far as the sandbox lets the agent ask them; it is among them itself. */
  readonly team: SeenTeam;
  /** The name on an agent's card, or its id without one. */
  nameOf(agentId: string): string;
  /** Why the rules would refuse it; undefined when it may be sent. Sends nothing and is no event. */
  judge(message: Outgoing): Verdict | undefined;
  /** On whose behalf the work is done whose context this is; without one what is being shown to interceptors. */
  behalfOf(cause?: ActorContext<unknown>): Behalf;
  /**
   * What the agent's work in hand passes on to what is sent later because of it; its budget is held until that is ended.
   * Fails with BUDGET_EXCEEDED when that is over.
   */
  delegationOf(cause: ActorContext<unknown>): Delegation;
  /** One that a former thread or process has written down: of a budget that it had nothing is left. */
  delegationAgain(record: DelegationRecord): Delegation;
  /** Sends it as the agent; `cause` is the context of what the agent is handling, from which it inherits. */
  send(message: Outgoing, cause?: ActorContext<unknown>): Sent;
  /**
   * Asks as the agent, as soon as there is room in the mailbox; `cause` is the context of what it is handling, whose end
   * cancels it. Rejects as `Sender.ask` does.
   */
  ask(asking: Asking, cause?: ActorContext<unknown>): Promise<unknown>;
  /** Asks for a stream as `ask` does; under an id of its own, because it is never the same one again. */
  stream(asking: Asking, cause?: ActorContext<unknown>): AsyncIterable<unknown>;
  /** Why the rules refuse to let this be asked, or nobody is there; undefined when it may be. A refusal is an event. */
  refusalOf(asking: Asking): Verdict | undefined;
  /** Whether what is sent to this agent outlives threads and process until it has an outcome. */
  isKeptFor(agentId: string): boolean;
  /** What becomes of what a death cuts off while this agent has it in hand. */
  deliveryOf(agentId: string): Delivery;
  /**
   * The agent was given `peer`'s proposal in a former thread or process: until `untilMs`, Unix milliseconds, it may answer
   * it as if it had come to it now.
   */
  holdGrant(envelopeId: string, peer: string, untilMs: number): void;
  /** The agent has no more to answer to `peer`'s envelope: what it was granted for that ends. */
  endGrant(envelopeId: string, peer: string): void;
  /** Watches the machines that interceptors have for the agent. */
  readonly steps: StepWatch;
  note(event: Omit<SystemEvent, 'timestamp'>): void;
  /** Says what the agent offers from now on: everybody's table has it on its card, instead of what stood there. */
  offer(offer: AgentOffer): void;
  /** Ends the agent's actor as what its handler throws would: what it has in hand is told, its supervisor decides. */
  fail(error: unknown): void;
}

/**
 * What came from outside (`taint`) and is to reach a privileged capability with this payload.
 *
 * - `definition` a hash of how the capability is declared now: what is approved is that one.
 */
export interface PrivilegedCall {
  readonly capability: string;
  readonly definition: string;
  readonly input: unknown;
  readonly taint: Taint;
}

/**
 * Speaks a protocol for all agents of a thread. So that goes on while they are busy, and where they know nothing of it. The
 * composition root names the interceptors. One without state serves every thread.
 *
 * - `types`    are shown to `arrived` as they come, before they wait in the mailbox.
 * - `owed`     are told to `lost` when they end without having been handled: rejected or dead-lettered.
 * - `handlers` answer in their turn what the agent does not handle: by message type or capability id.
 */
export interface Interceptor {
  readonly types: ReadonlySet<A2AMessageType>;
  readonly owed: ReadonlySet<A2AMessageType>;
  readonly handlers: ReadonlyMap<string, EnvelopeHandler<never>>;
  /** True when it is handled; false leaves it to the agent. */
  arrived(client: AgentClient, envelope: A2AEnvelope): boolean;
  lost(client: AgentClient, envelope: A2AEnvelope, why: ErrorData): void;
  /**
   * Resolves to why the agent may not be given this; to undefined when that is approved. `ctx` is that of the call, in which
   * others can be asked; nothing of it has reached the agent. What this rejects with is the answer, if it has a code.
   */
  refusalOf?(ctx: HandlingContext<never>, call: PrivilegedCall): Promise<string | undefined>;
  /** An actor of the agent has ended; another one may follow. */
  ended(client: AgentClient): void;
  /** Instead of that, when the system stops and what the agent is at goes on in the next process. */
  left?(client: AgentClient): void;
  /**
   * An agent that has left records in a former thread or process is about to start in this one: what it was at goes on. What
   * has come for it meanwhile has been shown to `arrived` already.
   */
  resumed?(client: AgentClient): void;
  /** The actors that it has for the agent, as they stand now. @default none */
  actorsOf?(client: AgentClient): readonly ActorRow[];
}
