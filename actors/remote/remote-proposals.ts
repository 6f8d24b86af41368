import {
  type DelegationOrder,
  NEGOTIATE,
  NegotiationAnswer,
  type NegotiationRequest,
} from '../../runtime/protocol/a2a-extension.ts';
import { remoteFailed } from '../../runtime/protocol/edge-errors.ts';
import { errorToData } from '../../runtime/protocol/errors.ts';
import type { RemoteLink } from '../../runtime/protocol/remote-agent.ts';
import type { Seams } from '../../runtime/protocol/seams.ts';
import { isTaskOver } from '../../runtime/protocol/task.ts';
import { type Decision, decline, takeOn } from '../negotiator/decision.ts';
import type { TaskProposal } from '../negotiator/task-proposal.ts';
import { failureOf } from './remote-failure.ts';
import { partsFor, resultOf } from './remote-values.ts';

/** For how long the agent there has a task without hearing of it: */
const LEASE_MS = 30_000;
/** it is renewed so many times as often, */
const RENEWALS = 3;
/** and one renewal takes no longer than this. */
const ASK_MS = 10_000;

export interface RemoteProposalsDeps {
  /** To the negotiating agent there. */
  readonly link: RemoteLink;
  /** That is proposed to, by its id there. */
  readonly agent: string;
  readonly seams: Pick<Seams, 'clock' | 'newId'>;
}

/**
 * In what a proposal is made there.
 *
 * - `path`     the requests above it.
 * - `giveBack` ends what the agent here has of it: the one there has it no more.
 */
export interface Proposing {
  readonly path: DelegationOrder['path'];
  readonly signal: AbortSignal;
  readonly giveBack: (proposalId: string, reason: string) => void;
}

interface Held {
  readonly epoch: number;
  readonly giveBack: (reason: string) => void;
  untilMs: number;
  stop: () => void;
}

/**
 * Carries proposals to an agent of another system of Orrery, and keeps the leases of what it takes on: it has a task there
 * as long as it has it here, and gives it back here when it is not heard of within the lease.
 */
export class RemoteProposals {
  readonly #deps: RemoteProposalsDeps;
  readonly #held = new Map<string, Held>();

  constructor(deps: RemoteProposalsDeps) {
    this.#deps = deps;
  }

  /** What the agent there says. A system that cannot be reached declines with the code of why. */
  async propose(proposal: TaskProposal, { path, signal, giveBack }: Proposing): Promise<Decision> {
    const { proposalId, taskDescription, requiredCapabilities, estimatedComplexity, deadlineMs } = proposal;
    const askedAtMs = this.#deps.seams.clock.now();
    let answer: NegotiationAnswer;
    try {
      answer = await this.#say(
        {
          kind: 'propose',
          proposalId,
          agent: this.#deps.agent,
          taskDescription,
          requiredCapabilities: [...requiredCapabilities],
          estimatedComplexity,
          deadlineMs,
          leaseMs: LEASE_MS,
        },
        deadlineMs,
        { path, signal },
      );
    } catch (error) {
      return decline({ reason: errorToData(error, 'REMOTE_FAILED').code });
    }
    if (answer.kind === 'accept') {
      this.#hold(proposalId, {
        epoch: answer.epoch,
        untilMs: askedAtMs + LEASE_MS,
        giveBack: (reason) => giveBack(proposalId, reason),
        stop: () => undefined,
      });
      return takeOn({ estimatedCompletionMs: answer.estimatedCompletionMs });
    }
    const reason = answer.kind === 'reject' ? answer.reason : 'TIMED_OUT';
    const alternative = answer.kind === 'reject' ? answer.alternative : undefined;
    return decline({ reason, ...(alternative === undefined ? {} : { alternative }) });
  }

  /** The agent here has it no more, or does not get it: so the one there has it no more. */
  release(proposalId: string, reason = 'WITHDRAWN'): void {
    const held = this.#held.get(proposalId);
    if (held === undefined) return;
    held.stop();
    this.#held.delete(proposalId);
    // Who does not hear of it lets it go when the lease is over.
    void this.#say({ kind: 'release', proposalId, reason }, ASK_MS).catch(() => undefined);
  }

  #hold(proposalId: string, held: Held): void {
    this.#held.set(proposalId, held);
    this.#renewLater(proposalId, held);
  }

  #renewLater(proposalId: string, held: Held): void {
    held.stop = this.#deps.seams.clock.setTimer(
      LEASE_MS / RENEWALS,
      () => void this.#renew(proposalId, held),
    );
  }

  async #renew(proposalId: string, held: Held): Promise<void> {
    const { clock } = this.#deps.seams;
    const askedAtMs = clock.now();
    const asked: NegotiationRequest = { kind: 'renew', proposalId, epoch: held.epoch, leaseMs: LEASE_MS };
    const answer = await this.#say(asked, ASK_MS).catch(() => undefined);
    if (this.#held.get(proposalId) !== held) return;
    if (answer?.kind === 'held') held.untilMs = askedAtMs + LEASE_MS;
    const isLost = answer !== undefined && answer.kind !== 'held';
    if (!isLost && clock.now() < held.untilMs) return this.#renewLater(proposalId, held);
    this.#held.delete(proposalId);
    held.giveBack(answer?.kind === 'reject' ? answer.reason : 'LAPSED');
  }

  async #say(
    request: NegotiationRequest,
    timeoutMs: number,
    { path, signal }: Partial<Pick<Proposing, 'path' | 'signal'>> = {},
  ): Promise<NegotiationAnswer> {
    const { link } = this.#deps;
    const parts = partsFor(NEGOTIATE, request, true);
    const delegation = { deadlineMs: timeoutMs, ...(path === undefined ? {} : { path }) };
    const options = { timeoutMs, ...(signal === undefined ? {} : { signal }) };
    for await (const event of link.stream({ parts, delegation }, options)) {
      if (event.kind === 'artifact') {
        const answer = NegotiationAnswer.safeParse(resultOf([event.artifact], undefined));
        if (answer.success && answer.data.proposalId === request.proposalId) return answer.data;
      }
      if (event.kind === 'task') {
        const answer = NegotiationAnswer.safeParse(resultOf(event.task.artifacts, undefined));
        if (answer.success && answer.data.proposalId === request.proposalId) return answer.data;
      }
      const state = event.kind === 'status' ? event.status.state : undefined;
      if (event.kind === 'status' && state !== undefined && isTaskOver(state) && state !== 'completed')
        throw failureOf(
          { id: event.taskId, contextId: undefined, status: event.status, artifacts: [], history: [] },
          link.url.href,
        );
    }
    throw remoteFailed(link.url.href, 'it does not answer a proposal in the words of the extension');
  }
}
