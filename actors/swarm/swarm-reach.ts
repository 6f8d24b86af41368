import type { ErrorData } from '../../runtime/protocol/errors.ts';
import type { Taint } from '../../runtime/protocol/taint.ts';
import type { Behalf } from '../../runtime/public.ts';
import type { SwarmNotice } from './swarm-notifier.ts';
import type { TeamMember } from './swarm-record.ts';

/** A proposal to one agent to take part in a swarm. */
export interface SwarmProposal {
  readonly swarmId: string;
  readonly correlationId: string;
  readonly agentId: string;
  readonly taskDescription: string;
  readonly requiredCapabilities: readonly string[];
  readonly complexity: 'simple' | 'medium' | 'complex';
  readonly justification: string | undefined;
  readonly timeoutMs: number;
}

/**
 * What an agent answered.
 *
 * - `willing`  to take part, if there is something for it to do.
 * - `declined` with a reason code; also when a policy does not let the owner write to it.
 * - `silent`   nothing within the time.
 * - `unasked`  the system stops, and whoever goes on with the swarm asks.
 *
 * `proposalId` is of what was agreed.
 */
export type ProposalAnswer =
  | { readonly standing: 'willing'; readonly proposalId?: string }
  | { readonly standing: 'declined'; readonly reason: string }
  | { readonly standing: 'silent' }
  | { readonly standing: 'unasked' };

/** An assignment on its way to its agent. `partial` is the last partial result, if the sub-task has been tried before. */
export interface WorkOrder {
  readonly swarmId: string;
  readonly correlationId: string;
  readonly subTaskId: string;
  readonly epoch: number;
  readonly agentId: string;
  readonly capability: string;
  readonly requiredCapabilities: readonly string[];
  readonly description: string;
  readonly input: unknown;
  readonly partial: unknown;
  /** Where the results in it came from outside. */
  readonly taint?: Taint | undefined;
  /** On whose behalf the swarm was made. */
  readonly behalf?: Behalf | undefined;
  readonly justification: string | undefined;
  readonly leaseMs: number;
  /** Until when an answer is of use to anybody, in Unix milliseconds. */
  readonly deadlineAtMs: number;
}

/** How an assignment goes, as far as is heard. None of these is called before `hand` has returned. */
export interface WorkReports {
  /** It is on its way, in this envelope. */
  sent(envelopeId: string): void;
  /** The agent gave a sign of life; `partial` is there when it was a checkpoint. */
  progressed(progress: { readonly partial?: unknown }): void;
  /** What is said next came from outside. */
  tainted?(taint: Taint): void;
  completed(result: unknown): void;
  failed(error: ErrorData): void;
  /** The work in which the swarm was made has ended, and everything that it caused with it. */
  orphaned(): void;
  /** The system stops: whoever goes on with the swarm in the next process hears how it went. */
  suspended(): void;
}

/** An assignment that was handed over. */
export interface HandedWork {
  /** Cancels the work and listens no longer. */
  cancel(reason: string): void;
  /** Listens no longer; the work goes on. */
  release(): void;
}

/** How assignments are handed over. */
export interface Hands {
  /** Whether the agents that it hands assignments to know that they take part in a swarm. */
  readonly isExplicit: boolean;
  /** Whether what goes on when the system stops goes on in the next process. */
  readonly isLasting: boolean;
  /** Says whether an assignment to this agent outlives the coordinator, and can be handed over again. */
  isKeptFor(agentId: string): boolean;
  /** Hands an assignment over. */
  hand(order: WorkOrder, reports: WorkReports): HandedWork;
  /**
   * Goes on listening to what was handed over before a restart; undefined when that is not possible. What is cancelled then
   * is cancelled at the agent.
   */
  handAgain(order: WorkOrder, envelopeId: string | undefined, reports: WorkReports): HandedWork | undefined;
}

/** What a notice belongs to: a conversation, and on whose behalf the swarm was made. */
export interface NoticeOrigin {
  readonly correlationId: string;
  readonly behalf?: Behalf | undefined;
}

/** Something that whoever watches the system wants to know. `isGood`: all is as it should be. */
export interface SwarmEvent {
  readonly correlationId: string;
  readonly reason: string;
  readonly isGood: boolean;
  readonly agentId?: string;
}

/** How a swarm reaches agents in the name of its owner: under the rules that hold for the owner. */
export interface SwarmReach extends Hands {
  /** The other agents with the capability that the owner may see, in registration order. */
  whoOffers(capabilityId: string): readonly string[];
  /**
   * Envelopes that an agent has in hand and waiting, whoever gave them, as far as that is known here: 0 where nothing is;
   * Infinity for an agent that takes none.
   */
  loadOf(agentId: string): number;
  /** Proposes to one agent. Never rejects. */
  propose(proposal: SwarmProposal): Promise<ProposalAnswer>;
  /** The agent is not needed any more: what was agreed with it ends. */
  dismiss(member: Pick<TeamMember, 'agentId' | 'proposalId'>): void;
  /** A coordinator before this one has proposed to the agent, and nobody waits for the answer. */
  withdraw(proposal: Pick<SwarmProposal, 'agentId' | 'correlationId' | 'taskDescription'>): void;
  /** Tells the owner or a participant; what becomes of it is nobody's concern. */
  notify(agentId: string, about: NoticeOrigin, notice: SwarmNotice): void;
  /** Tells whoever watches. */
  note(event: SwarmEvent): void;
}
