import { errorToData, reasonOf } from '../../runtime/protocol/errors.ts';
import type { TaskNegotiator } from '../negotiator/task-negotiator.ts';
import type { SwarmLetter, SwarmMedium } from './swarm-medium.ts';
import type { ProposalAnswer, SwarmProposal } from './swarm-reach.ts';
import { isStop } from './system-stop.ts';

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
export class Recruiter {
  readonly #negotiator: Negotiator;
  readonly #medium: Pick<SwarmMedium, 'judge' | 'seams'>;
  readonly #sinceMs: number;

  constructor(negotiator: Negotiator, medium: Pick<SwarmMedium, 'judge' | 'seams'>) {
    this.#negotiator = negotiator;
    this.#medium = medium;
    this.#sinceMs = medium.seams.clock.now();
  }

  async propose(proposal: SwarmProposal): Promise<ProposalAnswer> {
    const { correlationId, agentId, justification } = proposal;
    const verdict = this.#medium.judge(letterOf(proposal));
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
const letterOf = ({
  agentId,
  taskDescription,
  correlationId,
  justification,
}: SwarmProposal): SwarmLetter => ({
  recipient: agentId,
  type: 'task-proposal',
  expectsReply: true,
  payload: { taskDescription },
  correlationId,
  ...(justification === undefined ? {} : { justification }),
});
