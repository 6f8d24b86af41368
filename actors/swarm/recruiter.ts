import { reasonOf } from '../../runtime/protocol/errors.ts';
import type { TaskNegotiator } from '../negotiator/task-negotiator.ts';
import type { SwarmLetter, SwarmMedium } from './swarm-medium.ts';
import type { ProposalAnswer, SwarmProposal } from './swarm-reach.ts';

/** Of a negotiator, what recruiting needs. */
export type Negotiator = Pick<TaskNegotiator, 'propose' | 'release'>;

/**
 * An agent is a member for as long as the swarm lasts, however quiet it is meanwhile: what watches over its work is the
 * lease of each assignment.
 */
const MEMBERSHIP_MS = 86_400_000;

/** Wins agents for swarms: a proposal to each of them alone, so that any number of them can accept. */
export class Recruiter {
  readonly #negotiator: Negotiator;
  readonly #medium: Pick<SwarmMedium, 'judge'>;
  readonly #memberships = new Map<string, string>();

  constructor(negotiator: Negotiator, medium: Pick<SwarmMedium, 'judge'>) {
    this.#negotiator = negotiator;
    this.#medium = medium;
  }

  async propose(proposal: SwarmProposal): Promise<ProposalAnswer> {
    const { swarmId, correlationId, agentId, justification } = proposal;
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
      this.#memberships.set(keyOf(swarmId, agentId), proposalId);
      return { standing: 'willing' };
    } catch (error) {
      return { standing: 'declined', reason: reasonOf(error) };
    }
  }

  /** The agent is not needed any more. */
  dismiss(swarmId: string, agentId: string): void {
    const key = keyOf(swarmId, agentId);
    const proposalId = this.#memberships.get(key);
    if (proposalId === undefined) return;
    this.#memberships.delete(key);
    // A negotiator that was closed has released it.
    void this.#negotiator.release(proposalId).catch(() => undefined);
  }
}

const keyOf = (swarmId: string, agentId: string): string => `${swarmId} ${agentId}`;

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
