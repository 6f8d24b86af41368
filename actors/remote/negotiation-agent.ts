import { z } from 'zod';
import { NEGOTIATE, NegotiationAnswer, NegotiationRequest } from '../../runtime/protocol/a2a-extension.ts';
import { capability } from '../../runtime/protocol/capability.ts';
import { refused } from '../../runtime/protocol/errors.ts';
import { parseOptions } from '../../runtime/protocol/parse-options.ts';
import type { Seams } from '../../runtime/protocol/seams.ts';
import {
  type ActorContext,
  type AgentDefinition,
  defineAgent,
  type HandlingContext,
} from '../../runtime/public.ts';
import { portOf } from '../agent-port/client-port.ts';
import { negotiatorOf } from '../negotiator/agent-negotiator.ts';
import { OpenProposals } from './open-proposals.ts';
import type { TaskNegotiator } from '../negotiator/task-negotiator.ts';
import { REASON } from '../negotiator/negotiation-message.ts';
import { taskOf } from '../tasks/task-of.ts';

const Options = z.strictObject({
  id: z.string().min(1).default('orrery-negotiator'),
  tier: z.literal([1, 2, 3]).default(3),
  maxHeld: z.int().positive().default(1_000),
  atOnce: z.int().positive().default(16),
});

/**
 * How long a request waits for the decision before it is answered with `open`, milliseconds. Most agents decide within it.
 */
const AT_ONCE_MS = 50;
/** The longest deadline of a proposal, milliseconds. */
const MAX_DEADLINE_MS = 60_000;
/** The longest lease without a renewal, milliseconds. */
const MAX_LEASE_MS = 60_000;

/**
 * Options of `negotiationAgent`.
 *
 * - `id`      of the agent. @default 'orrery-negotiator'
 * - `tier`    at which it proposes, for all other systems. @default 3
 * - `maxHeld` most assignments and undecided proposals at a time. @default 1,000
 * - `atOnce`  most proposals that agents decide at a time; others wait in order of arrival. @default 16
 */
export type NegotiationAgentOptions = z.input<typeof Options>;

const negotiate = capability({
  id: NEGOTIATE,
  description: 'Carries proposals of another system of Orrery to the agents of this one',
  input: NegotiationRequest,
  output: NegotiationAnswer,
});

type Proposed = Extract<NegotiationRequest, { kind: 'propose' }>;

interface Held {
  /** Its id here, which this system's negotiator gave it. */
  readonly proposalHere: string;
  readonly epoch: number;
  readonly answer: NegotiationAnswer;
  stop: () => void;
}

/**
 * Makes the agent through which other systems of Orrery negotiate with the agents of this one, over plain A2A. An accepted
 * task is held under a lease, which the other system renews. If it does not, the agent here loses the task with the reason
 * LAPSED.
 */
export function negotiationAgent(
  seams: Seams,
  options: NegotiationAgentOptions = {},
): AgentDefinition<NegotiationAgent> {
  const { id, tier, maxHeld, atOnce } = parseOptions(Options, options, 'negotiationAgent');
  return defineAgent({
    id,
    name: 'Negotiator',
    version: '1.0.0',
    description: 'Negotiates with other systems of Orrery',
    tier,
  })
    .onStart((ctx) => new NegotiationAgent(ctx, seams, { maxHeld, atOnce }))
    .handle(negotiate, (request, ctx) => ctx.state.answer(request, ctx))
    .onStop((ctx) => ctx.state.end());
}

/** Carries proposals of other systems to agents here, and holds the leases of what they accept. */
export class NegotiationAgent {
  readonly #negotiator: TaskNegotiator;
  readonly #seams: Seams;
  readonly #maxHeld: number;
  readonly #held = new Map<string, Held>();
  readonly #open: OpenProposals;

  constructor(
    ctx: ActorContext,
    seams: Seams,
    { maxHeld, atOnce }: { readonly maxHeld: number; readonly atOnce: number },
  ) {
    this.#negotiator = negotiatorOf(ctx);
    this.#seams = seams;
    this.#maxHeld = maxHeld;
    this.#open = new OpenProposals(seams, atOnce);
  }

  async answer(
    request: NegotiationRequest,
    ctx: HandlingContext<NegotiationAgent>,
  ): Promise<NegotiationAnswer> {
    const { proposalId } = request;
    // Each caller sees its own proposals only.
    const owner = ownerOf(ctx);
    const key = JSON.stringify([owner, proposalId]);
    const held = this.#held.get(key);
    if (request.kind === 'propose') return held?.answer ?? this.#answerTo(key, request, ctx);
    if (request.kind === 'release' && this.#open.has(key)) {
      this.#open.withdraw(key);
      return { kind: 'released', proposalId };
    }
    if (held === undefined) return { kind: 'reject', proposalId, reason: REASON.notHeld };
    if (request.kind === 'release') {
      this.#release(key, held, request.reason);
      return { kind: 'released', proposalId };
    }
    const { status, isHeld } = this.#statusOf(held);
    if (request.epoch !== held.epoch || !isHeld) {
      this.#forget(key, held);
      return { kind: 'reject', proposalId, reason: status };
    }
    this.#lease(key, held, request.leaseMs);
    return { kind: 'held', proposalId, epoch: held.epoch };
  }

  /** Ends all proposals and assignments, because nobody renews them any more. */
  end(): void {
    this.#open.end();
    for (const [key, held] of [...this.#held]) this.#release(key, held, REASON.ended);
  }

  #answerTo(
    key: string,
    request: Proposed,
    ctx: HandlingContext<NegotiationAgent>,
  ): Promise<NegotiationAnswer> {
    const { proposalId } = request;
    if (this.#open.has(key)) return this.#open.answerOf(key, proposalId, 0);
    if (this.#held.size + this.#open.size >= this.#maxHeld)
      throw refused(`No more than ${this.#maxHeld} assignments of other systems at once`);
    // The proposal belongs to the work in hand, but may be decided after it has ended.
    const negotiator = this.#negotiator.within(portOf(ctx, { outlivesWork: true }));
    const leftMs = (ctx.envelope.metadata?.deadlineAtMs ?? Number.POSITIVE_INFINITY) - ctx.now();
    const atMs = this.#seams.clock.now();
    this.#open.begin(key, (signal) => {
      const waitedMs = this.#seams.clock.now() - atMs;
      const deadlineMs = Math.max(1, Math.min(request.deadlineMs, MAX_DEADLINE_MS, leftMs) - waitedMs);
      return this.#propose(key, { ...request, deadlineMs }, { negotiator, signal });
    });
    return this.#open.answerOf(key, proposalId, AT_ONCE_MS);
  }

  async #propose(
    key: string,
    request: Proposed,
    { negotiator, signal }: { readonly negotiator: TaskNegotiator; readonly signal: AbortSignal },
  ): Promise<NegotiationAnswer> {
    const { proposalId, agent, kind: _, leaseMs, deadlineMs, ...proposal } = request;
    const { taskDescription, requiredCapabilities, estimatedComplexity, escalationJustification } = proposal;
    const made = await negotiator.propose(
      {
        taskDescription,
        requiredCapabilities,
        estimatedComplexity,
        deadlineMs,
      },
      {
        to: agent,
        signal,
        alternatives: 0,
        ...(escalationJustification === undefined ? {} : { escalationJustification }),
      },
    );
    if (made.status === 'timed-out') return { kind: 'timed-out', proposalId };
    if (made.status !== 'accepted') {
      const { rejectionReason: reason = 'REJECTED', alternativeSuggestion: alternative } = made;
      return { kind: 'reject', proposalId, reason, ...(alternative === undefined ? {} : { alternative }) };
    }
    const { estimatedCompletionMs = deadlineMs } = made;
    const epoch = 1;
    const answer = { kind: 'accept', proposalId, epoch, estimatedCompletionMs } as const;
    const proposalHere = made.proposalId;
    if (signal.aborted) {
      await negotiator.release(proposalHere, REASON.withdrawn);
      return { kind: 'reject', proposalId, reason: REASON.withdrawn };
    }
    const held: Held = { proposalHere, epoch, answer, stop: () => undefined };
    this.#held.set(key, held);
    this.#lease(key, held, leaseMs);
    return answer;
  }

  #statusOf({ proposalHere }: Held): { readonly isHeld: boolean; readonly status: string } {
    const proposal = this.#negotiator.getProposal(proposalHere);
    return { isHeld: proposal?.isHeld === true, status: proposal?.rejectionReason ?? REASON.notHeld };
  }

  #lease(key: string, held: Held, leaseMs: number): void {
    held.stop();
    const ms = Math.min(leaseMs, MAX_LEASE_MS);
    held.stop = this.#seams.clock.setTimer(ms, () => this.#release(key, held, REASON.lapsed));
  }

  #release(key: string, held: Held, reason: string): void {
    this.#forget(key, held);
    void this.#negotiator.release(held.proposalHere, reason);
  }

  #forget(key: string, held: Held): void {
    held.stop();
    this.#held.delete(key);
  }
}

/** The caller, as authenticated at the gateway: the owner of the task that carries the request. */
function ownerOf(ctx: HandlingContext<NegotiationAgent>): string {
  const { principalId, tenant = '' } = taskOf(ctx)?.owner ?? { principalId: ctx.envelope.sender };
  return `${tenant}/${principalId}`;
}
