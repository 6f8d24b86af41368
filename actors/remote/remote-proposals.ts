import {
  type DelegationOrder,
  NEGOTIATE,
  NegotiationAnswer,
  type NegotiationRequest,
} from '../../runtime/protocol/a2a-extension.ts';
import { remoteFailed } from '../../runtime/protocol/edge-errors.ts';
import { cancelled, deadlineExceeded, errorToData } from '../../runtime/protocol/errors.ts';
import type { RemoteLink } from '../../runtime/protocol/remote-agent.ts';
import type { Seams } from '../../runtime/protocol/seams.ts';
import { isTaskOver } from '../../runtime/protocol/task.ts';
import { type Decision, decline, takeOn } from '../negotiator/decision.ts';
import { REASON } from '../negotiator/negotiation-message.ts';
import type { TaskProposal } from '../negotiator/proposal.ts';
import { failureOf } from './remote-failure.ts';
import { partsFor, resultOf } from './remote-values.ts';

/** The lease of a task there without renewal, milliseconds. */
const LEASE_MS = 30_000;
/** How often a lease is renewed within its time. */
const RENEWALS = 3;
/** The timeout of a renewal or release, milliseconds. */
const ASK_MS = 10_000;
/** The timeout of a release when the agent stops, milliseconds. */
const END_MS = 5_000;
/** The first wait before an undecided proposal is asked about again, milliseconds. Each further wait is twice as long. */
const FIRST_WAIT_MS = 100;
/** The longest such wait, milliseconds. */
const LONGEST_WAIT_MS = 1_000;

export interface RemoteProposalsDeps {
  /** To the negotiation agent there. */
  readonly link: RemoteLink;
  /** The id, there, of the agent that gets the proposals. */
  readonly agent: string;
  readonly seams: Pick<Seams, 'clock' | 'newId'>;
}

/**
 * The work that a proposal belongs to.
 *
 * - `path`     of the request that it belongs to.
 * - `giveBack` called when the agent there has lost the task, to release it here.
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
 * Carries proposals to an agent of another system of Orrery, and renews the leases of what it accepts. It holds a task there
 * as long as its proxy does here. If the lease cannot be renewed in time, the task is given back here.
 */
export class RemoteProposals {
  readonly #deps: RemoteProposalsDeps;
  readonly #held = new Map<string, Held>();

  constructor(deps: RemoteProposalsDeps) {
    this.#deps = deps;
  }

  /** Resolves to the remote decision. If the system cannot be reached, it declines with the error's code as reason. */
  async propose(proposal: TaskProposal, { path, signal, giveBack }: Proposing): Promise<Decision> {
    const { proposalId, taskDescription, requiredCapabilities, estimatedComplexity, deadlineMs } = proposal;
    const request: NegotiationRequest = {
      kind: 'propose',
      proposalId,
      agent: this.#deps.agent,
      taskDescription,
      requiredCapabilities: [...requiredCapabilities],
      estimatedComplexity,
      deadlineMs,
      leaseMs: LEASE_MS,
    };
    let decided: { readonly answer: NegotiationAnswer; readonly sinceMs: number };
    try {
      decided = await this.#decisionOn(request, deadlineMs, { path, signal });
    } catch (error) {
      return decline({ reason: errorToData(error, 'REMOTE_FAILED').code });
    }
    const { answer, sinceMs } = decided;
    if (answer.kind === 'accept') {
      this.#hold(proposalId, {
        epoch: answer.epoch,
        untilMs: sinceMs + LEASE_MS,
        giveBack: (reason) => giveBack(proposalId, reason),
        stop: () => undefined,
      });
      return takeOn({ estimatedCompletionMs: answer.estimatedCompletionMs });
    }
    const reason = answer.kind === 'reject' ? answer.reason : 'TIMED_OUT';
    const alternative = answer.kind === 'reject' ? answer.alternative : undefined;
    return decline({ reason, ...(alternative === undefined ? {} : { alternative }) });
  }

  /** Releases a task there, because its proxy here has lost it. */
  release(proposalId: string, reason = 'WITHDRAWN'): void {
    const held = this.#held.get(proposalId);
    if (held === undefined) return;
    held.stop();
    this.#held.delete(proposalId);
    void this.#sendRelease(proposalId, reason);
  }

  /** Releases all tasks there; resolves when that is done, or has failed. */
  async end(): Promise<void> {
    const { ended } = REASON;
    const held = [...this.#held];
    this.#held.clear();
    await Promise.all(
      held.map(([proposalId, { stop }]) => {
        stop();
        return this.#sendRelease(proposalId, ended, END_MS);
      }),
    );
  }

  async #sendRelease(proposalId: string, reason: string, withinMs = ASK_MS): Promise<void> {
    // If this fails, the lease there runs out.
    await this.#send({ kind: 'release', proposalId, reason }, withinMs).catch(() => undefined);
  }

  /**
   * Asks until the proposal is decided. `sinceMs` is the earliest time, by the clock here, at which its lease may have begun.
   * On failure the proposal is withdrawn there.
   */
  async #decisionOn(
    request: NegotiationRequest,
    deadlineMs: number,
    { path, signal }: Pick<Proposing, 'path' | 'signal'>,
  ): Promise<{ readonly answer: NegotiationAnswer; readonly sinceMs: number }> {
    const { clock } = this.#deps.seams;
    const untilMs = clock.now() + deadlineMs;
    const { proposalId } = request;
    let sinceMs = clock.now();
    for (let waitMs = FIRST_WAIT_MS; ; waitMs = Math.min(2 * waitMs, LONGEST_WAIT_MS)) {
      const askedAtMs = clock.now();
      try {
        const leftMs = untilMs - askedAtMs;
        if (leftMs <= 0) throw deadlineExceeded(`The proposal ${proposalId}`, deadlineMs);
        const answer = await this.#send(request, leftMs, { path, signal });
        if (answer.kind !== 'open') return { answer, sinceMs };
        await this.#wait(Math.min(waitMs, Math.max(1, untilMs - clock.now())), signal);
      } catch (error) {
        void this.#sendRelease(proposalId, REASON.withdrawn);
        throw error;
      }
      // It was still open at this time, so its lease begins later.
      sinceMs = askedAtMs;
    }
  }

  /** Waits. Rejects with CANCELLED when the signal aborts. */
  #wait(ms: number, signal: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      const cancel = (): void => {
        stop();
        reject(cancelled('The proposal'));
      };
      const stop = this.#deps.seams.clock.setTimer(ms, () => {
        signal.removeEventListener('abort', cancel);
        resolve();
      });
      if (signal.aborted) cancel();
      else signal.addEventListener('abort', cancel, { once: true });
    });
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
    const answer = await this.#send(asked, ASK_MS).catch(() => undefined);
    if (this.#held.get(proposalId) !== held) return;
    if (answer?.kind === 'held') held.untilMs = askedAtMs + LEASE_MS;
    const isLost = answer !== undefined && answer.kind !== 'held';
    if (!isLost && clock.now() < held.untilMs) return this.#renewLater(proposalId, held);
    this.#held.delete(proposalId);
    held.giveBack(answer?.kind === 'reject' ? answer.reason : 'LAPSED');
  }

  async #send(
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
    throw remoteFailed(link.url.href, 'it does not answer a proposal as the extension says');
  }
}
