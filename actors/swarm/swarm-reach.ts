import type { StepWatch } from '../../runtime/protocol/step-watch.ts';
import { type ErrorCode, type ErrorData, errorToData, reasonOf } from '../../runtime/protocol/errors.ts';
import type { Taint } from '../../runtime/protocol/taint.ts';
import type { Behalf } from '../../runtime/public.ts';
import type { AgentPort, PortMessage } from '../agent-port/agent-port.ts';
import type { TaskNegotiator } from '../negotiator/task-negotiator.ts';
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
export interface AssignmentOrder {
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
export interface AssignmentReports {
  /** It is on its way, in this envelope. */
  sent(envelopeId: string): void;
  /** The agent gave a sign of life; `partial` is there when it was a checkpoint. */
  progressed(progress: { readonly partial?: unknown }): void;
  /** What is said next came from outside. */
  tainted?(taint: Taint): void;
  completed(result: unknown): void;
  /** `isSaid`: the agent itself says so, in an envelope of its own. */
  failed(error: ErrorData, isSaid?: boolean): void;
  /** The work in which the swarm was made has ended, and everything that it caused with it. */
  orphaned(): void;
  /** The system stops: whoever goes on with the swarm in the next process hears how it went. */
  suspended(): void;
}

/** An assignment that was handed over. */
export interface HandedAssignment {
  /** Cancels the work and listens no longer. */
  cancel(reason: string): void;
  /** Listens no longer; the work goes on. */
  release(): void;
}

/** How assignments go to their agents. */
export interface AssignmentTransport {
  /** Whether the agents that get assignments know that they take part in a swarm. */
  readonly isExplicit: boolean;
  /** Whether what goes on when the system stops goes on in the next process. */
  readonly isLasting: boolean;
  /** Says whether an assignment to this agent outlives the coordinator, and can be handed over again. */
  isKeptFor(agentId: string): boolean;
  /** Hands an assignment over. */
  hand(order: AssignmentOrder, reports: AssignmentReports): HandedAssignment;
  /**
   * Goes on listening to what was handed over before a restart; undefined when that is not possible. What is cancelled then
   * is cancelled at the agent.
   */
  handAgain(
    order: AssignmentOrder,
    envelopeId: string | undefined,
    reports: AssignmentReports,
  ): HandedAssignment | undefined;
}

/** What a notice belongs to: a conversation, and on whose behalf the swarm was made. */
export interface NoticeOrigin {
  readonly correlationId: string;
  readonly behalf?: Behalf | undefined;
}

/** Something that whoever watches the system wants to know. `isGood`: all is as it should be; `errorCode`: an error. */
export interface SwarmEvent {
  readonly correlationId: string;
  readonly reason: string;
  readonly isGood: boolean;
  readonly agentId?: string;
  readonly errorCode?: ErrorCode;
}

/** How a swarm reaches agents in the name of its owner: under the rules that hold for the owner. */
export interface SwarmReach extends AssignmentTransport {
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
  /** Of the swarm's machines. Undefined where nobody can watch. */
  readonly steps?: StepWatch | undefined;
  /** Tells whoever watches. */
  note(event: SwarmEvent): void;
}

/**
 * - `port`       of the owner; what is said of swarms belongs to no work in particular.
 * - `negotiator` makes the proposals.
 * - `transport`  hands over what is assigned.
 */
export interface ReachOptions {
  readonly port: AgentPort;
  readonly negotiator: Negotiator;
  readonly transport: AssignmentTransport;
}

/** How the agents of swarms are reached through their owner's port. */
export function reachOver({ port, negotiator, transport }: ReachOptions): SwarmReach {
  const recruiter = new Recruiter(negotiator, port);
  const note = ({ agentId, isGood, ...event }: SwarmEvent): void =>
    port.note({
      type: event.errorCode === undefined ? 'swarm' : 'error',
      agentId: port.agentId,
      success: isGood,
      ...event,
      ...(agentId === undefined ? {} : { targetAgentId: agentId }),
    });
  /** Whoever watches learns when that was not possible. */
  const tell = async (recipient: string, about: NoticeOrigin, payload: SwarmNotice): Promise<void> => {
    const justification = `${recipient} takes part in the swarm ${payload.swarmId}`;
    const { delivered, error } = await port.send({
      recipient,
      type: 'notification',
      payload,
      ...about,
      justification,
    });
    if (delivered) return;
    const reason = `${recipient} was not told "${payload.kind}": ${error}`;
    note({ correlationId: about.correlationId, reason, isGood: false, agentId: recipient });
  };
  return {
    isExplicit: transport.isExplicit,
    get isLasting() {
      return transport.isLasting;
    },
    isKeptFor: (agentId) => transport.isKeptFor(agentId),
    whoOffers: (capabilityId) => port.whoOffers([capabilityId]),
    loadOf: (agentId) => port.loadOf(agentId),
    propose: async (proposal) => {
      const answer = await recruiter.propose(proposal);
      const isStopped = answer.standing === 'declined' && isStop({ code: answer.reason });
      return isStopped && transport.isLasting ? { standing: 'unasked' } : answer;
    },
    dismiss: (member) => recruiter.dismiss(member),
    withdraw: (proposal) => recruiter.withdraw(proposal),
    hand: (order, reports) => transport.hand(order, reports),
    handAgain: (order, envelopeId, reports) => transport.handAgain(order, envelopeId, reports),
    steps: port.steps,
    note,
    notify: (recipient, about, notice) => {
      // An owner that handles no notifications has nobody to tell.
      if (recipient !== port.agentId || port.handles('notification')) void tell(recipient, about, notice);
    },
  };
}

/** Of a negotiator, what recruiting needs. */
export type Negotiator = Pick<
  TaskNegotiator,
  'agentId' | 'propose' | 'release' | 'withdraw' | 'listPending' | 'getRecord'
>;

/**
 * An agent is a member for as long as the swarm lasts, however quiet it is meanwhile: what watches over its work is the
 * lease of each assignment.
 */
const MEMBERSHIP_MS = 86_400_000;

/** Wins agents for swarms: a proposal to each of them alone, so that any number of them can accept. */
class Recruiter {
  readonly #negotiator: Negotiator;
  readonly #port: Pick<AgentPort, 'judge' | 'seams'>;
  readonly #sinceMs: number;

  constructor(negotiator: Negotiator, port: Pick<AgentPort, 'judge' | 'seams'>) {
    this.#negotiator = negotiator;
    this.#port = port;
    this.#sinceMs = port.seams.clock.now();
  }

  async propose(proposal: SwarmProposal): Promise<ProposalAnswer> {
    const { correlationId, agentId, justification } = proposal;
    const verdict = this.#port.judge(proposalMessage(proposal));
    if (verdict !== undefined) return { standing: 'declined', reason: verdict.code };
    try {
      const {
        status,
        proposalId,
        rejectionReason = 'REJECTED',
      } = await this.#negotiator.propose(
        {
          taskDescription: proposal.taskDescription,
          requiredCapabilities: [...proposal.requiredCapabilities],
          estimatedComplexity: proposal.complexity,
          deadlineMs: proposal.timeoutMs,
        },
        {
          to: agentId,
          alternatives: 0,
          correlationId,
          leaseMs: MEMBERSHIP_MS,
          ...(justification === undefined ? {} : { escalationJustification: justification }),
        },
      );
      if (status === 'timed-out') return { standing: 'silent' };
      if (status !== 'accepted') return { standing: 'declined', reason: rejectionReason };
      return { standing: 'willing', proposalId };
    } catch (error) {
      const data = errorToData(error);
      return { standing: 'declined', reason: isStop(data) ? data.code : reasonOf(error) };
    }
  }

  /** The agent is not needed any more. One that joined by itself has agreed to nothing. */
  dismiss({ proposalId }: { readonly proposalId?: string | undefined }): void {
    // A negotiator that was closed has released it.
    if (proposalId !== undefined) void this.#negotiator.release(proposalId).catch(() => undefined);
  }

  /** Takes back what a recruiter before this one has proposed, so that a new proposal is the only one. */
  withdraw({
    agentId,
    correlationId,
    taskDescription,
  }: Pick<SwarmProposal, 'agentId' | 'correlationId' | 'taskDescription'>): void {
    for (const proposal of this.#negotiator.listPending()) {
      const { proposalId, proposerAgentId, proposedAtMs } = proposal;
      if (proposerAgentId !== this.#negotiator.agentId || proposedAtMs >= this.#sinceMs) continue;
      if (proposal.correlationId !== correlationId || proposal.taskDescription !== taskDescription) continue;
      if (this.#negotiator.getRecord(proposalId)?.asked.join() !== agentId) continue;
      void this.#negotiator.withdraw(proposalId).catch(() => undefined);
    }
  }
}

/** What the rules look at of a proposal. */
const proposalMessage = ({
  agentId,
  taskDescription,
  correlationId,
  justification,
}: SwarmProposal): PortMessage => ({
  recipient: agentId,
  type: 'task-proposal',
  expectsReply: true,
  payload: { taskDescription },
  correlationId,
  ...(justification === undefined ? {} : { justification }),
});

/** Says whether something failed because the whole system ends. */
export const isStop = ({ code }: { readonly code: ErrorCode | string }): boolean =>
  code === 'SYSTEM_STOPPED' || code === 'CONTROL_LOST';
