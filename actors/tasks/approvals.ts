import { z } from 'zod';
import {
  ApprovalDecision,
  type Approver,
  ApprovalRequest,
  approvalHash,
} from '../../runtime/protocol/approval.ts';
import { parseInput, capability } from '../../runtime/protocol/capability.ts';
import type { A2AEnvelope } from '../../runtime/protocol/envelope.ts';
import { reasonOf, isOrreryError } from '../../runtime/protocol/errors.ts';
import { isSystemId, HOST_ID } from '../../runtime/protocol/policy.ts';
import { requireFunction, parseOptions } from '../../runtime/protocol/parse-options.ts';
import {
  type AgentClient,
  type Interceptor,
  clientOf,
  type HandlingContext,
  type System,
} from '../../runtime/public.ts';
import { notPermitted } from '../../runtime/protocol/edge-errors.ts';
import { Taint } from '../../runtime/protocol/taint.ts';
import { type GivenApproval, runningTaskOf } from './task-of.ts';
import { isOf } from './task-turns.ts';
import { pause } from './turn-pause.ts';

/** Whom agents ask for approvals outside of tasks. */
const HOST = HOST_ID;
/** The answer where there is neither an approver nor a task's owner. */
const NOBODY_APPROVES = { isByNobody: true } as const;
type Decided = ApprovalDecision | typeof NOBODY_APPROVES;
/** The first wait before asking again for a decision; each further wait is longer. */
const ASK_AGAIN_MS = 20;
const ASK_AGAIN_MAX_MS = 500;

/** By this an agent asks the embedder whether a request is approved by now. The first call brings the request. */
const approvalCapability = capability({
  id: 'system.approval',
  description: 'Whether something may be done',
  input: z.strictObject({
    approvalId: z.string().min(1),
    request: ApprovalRequest,
    taskId: z.string().optional(),
  }),
  output: z.union([
    z.strictObject({ isOpen: z.literal(true) }),
    z.strictObject({ isByNobody: z.literal(true) }),
    ApprovalDecision,
  ]),
});

/** By this an agent checks that a decision in a note was made, because anybody could have written the note. A decision counts once. */
const givenApprovalCapability = capability({
  id: 'system.given-approval',
  description: 'Uses up what the owner of a task has decided; whether there was such',
  input: z.strictObject({
    taskId: z.string(),
    approvalId: z.string(),
    hash: z.string(),
    approved: z.boolean(),
    taint: Taint.optional(),
  }),
  output: z.boolean(),
});

/**
 * Resolves when what is asked for is approved; rejects with NOT_PERMITTED when it is refused, or nobody can be asked.
 *
 * The system's approver is asked, if it has one. Else, in a task, its owner is: this throws what ends the turn, and when the
 * owner has decided the handler runs again, and comes by here again. What is approved is this action with these details,
 * once, and from no sources but those of `taint`.
 */
export async function approvalOf<State>(
  ctx: HandlingContext<State>,
  request: z.input<typeof ApprovalRequest>,
): Promise<void> {
  const wanted = parseOptions(ApprovalRequest, request, 'request');
  await approvalIn(ctx, wanted, runningTaskOf(ctx));
}

/** As `approvalOf`. But an owner whose own message is the source of the taint is not asked to approve it. */
export async function outsideApprovalOf(
  ctx: HandlingContext<never>,
  request: z.input<typeof ApprovalRequest>,
): Promise<void> {
  const wanted = parseOptions(ApprovalRequest, request, 'request');
  const task = runningTaskOf(ctx);
  const isOwners = task?.note.isOutside === true || isOf(wanted.taint, task?.owner);
  if (task === undefined || !isOwners) return approvalIn(ctx, wanted, task);
  requireApproved(wanted, await decisionOf(ctx, wanted, task.taskId));
}

async function approvalIn<State>(
  ctx: HandlingContext<State>,
  wanted: ApprovalRequest,
  task: ReturnType<typeof runningTaskOf>,
): Promise<void> {
  const hash = approvalHash(wanted);
  const given = task?.takeApproval(hash, wanted.taint);
  if (
    task !== undefined &&
    given !== undefined &&
    (await takesGiven(ctx, task.taskId, given, wanted.taint))
  ) {
    task.usedApproval(given);
    return requireApproved(wanted, given);
  }
  if (task !== undefined && !task.note.hasApprover)
    throw pause({ state: 'input-required', question: wanted.message, approval: wanted });
  requireApproved(wanted, await decisionOf(ctx, wanted, task?.taskId));
}

async function takesGiven<State>(
  ctx: HandlingContext<State>,
  taskId: string,
  { approvalId, hash, approved }: GivenApproval,
  taint: Taint | undefined,
): Promise<boolean> {
  const target = { agent: HOST, capability: givenApprovalCapability };
  return ctx
    .ask(target, { taskId, approvalId, hash, approved, ...(taint && { taint }) })
    .catch((error: unknown) => {
      if (isOrreryError(error) && error.code === 'AGENT_NOT_FOUND') return false;
      throw error;
    });
}

async function decisionOf<State>(
  ctx: HandlingContext<State>,
  request: ApprovalRequest,
  taskId: string | undefined,
): Promise<Decided> {
  const approvalId = ctx.newId();
  const target = { agent: HOST, capability: approvalCapability };
  for (let waitMs = ASK_AGAIN_MS; ; waitMs = Math.min(2 * waitMs, ASK_AGAIN_MAX_MS)) {
    const decision = await ctx
      .ask(target, { approvalId, request, ...(taskId === undefined ? {} : { taskId }) })
      .catch((error: unknown) => {
        if (isOrreryError(error) && error.code === 'AGENT_NOT_FOUND') return NOBODY_APPROVES;
        throw error;
      });
    if (!('isOpen' in decision)) return decision;
    await ctx.sleep(waitMs);
  }
}

function requireApproved({ action }: ApprovalRequest, decided: Decided): void {
  const no = `"${action}" was not approved`;
  if ('isByNobody' in decided)
    throw notPermitted(`${no}: nobody is there who could approve it`, NOBODY_APPROVES);
  const { approved, reason } = decided;
  if (!approved) throw notPermitted(reason === undefined ? no : `${no}: ${reason}`);
}

/** Whether an error says that there is nobody who could approve. */
export const isApprovedByNobody = (error: unknown): boolean =>
  isOrreryError(error) && error.code === 'NOT_PERMITTED' && error.details['isByNobody'] === true;

/** The key under which the embedder's client holds the open requests. */
const HELD_AS = 'approvals';
/** How many requests may be open: undecided, or not fetched by their agent. */
const MAX_OPEN = 10_000;

/** The key under which it holds what owners have decided in open tasks. */
const OWNERS_HELD_AS = 'approvals of owners';

type Asked = z.infer<typeof approvalCapability.input>;
type Given = z.infer<typeof givenApprovalCapability.input>;
/** Uses up a decision; false when there is none. */
type TakeGiven = (given: Given) => boolean;

/** Requests of agents, until they have fetched the decision. */
class Approvals {
  readonly #approver: Approver;
  /** By the asking agent and the request's id. */
  readonly #open = new Map<string, { decision: ApprovalDecision | undefined }>();

  constructor(approver: Approver) {
    this.#approver = approver;
  }

  /** The decision; undefined while there is none. The first call asks the approver. */
  decisionOf(agentId: string, asked: Asked): ApprovalDecision | undefined {
    const key = `${agentId}\n${asked.approvalId}`;
    const open = this.#open.get(key);
    if (open === undefined) {
      this.#ask(key, agentId, asked);
      return undefined;
    }
    if (open.decision !== undefined) this.#open.delete(key);
    return open.decision;
  }

  #ask(key: string, agentId: string, { request, taskId }: Asked): void {
    const [oldest] = this.#open.size >= MAX_OPEN ? this.#open.keys() : [];
    if (oldest !== undefined) this.#open.delete(oldest);
    const open: { decision: ApprovalDecision | undefined } = { decision: undefined };
    this.#open.set(key, open);
    void this.#decide(request, { agentId, taskId }).then((decision) => {
      open.decision = decision;
    });
  }

  async #decide(...asked: Parameters<Approver>): Promise<ApprovalDecision> {
    try {
      const decided = await this.#approver(...asked);
      return typeof decided === 'boolean' ? { approved: decided } : ApprovalDecision.parse(decided);
    } catch (error) {
      return { approved: false, reason: reasonOf(error) };
    }
  }
}

/**
 * Has `approver` asked for what the agents of a running system want to have approved, whether in tasks or not; until the
 * returned function is called, or another one is asked.
 */
export async function approveWith(system: Pick<System, 'client'>, approver: Approver): Promise<() => void> {
  requireFunction('approver', approver);
  const { held } = await system.client();
  const approvals = new Approvals(approver);
  held.set(HELD_AS, approvals);
  return () => {
    if (held.get(HELD_AS) === approvals) held.delete(HELD_AS);
  };
}

/** Sets `takeGiven` to say what owners of tasks have decided. */
export function heedOwners(client: AgentClient, takeGiven: TakeGiven): void {
  client.held.set(OWNERS_HELD_AS, takeGiven);
}

/** Whether the system has an approver. */
export const hasApprover = (client: AgentClient): boolean => client.held.has(HELD_AS);

type Answering = (envelope: A2AEnvelope, ctx: HandlingContext<never>) => unknown;

/** Answers for the embedder what agents ask it about approvals. */
export const approvalInterceptor: Interceptor = {
  types: new Set(),
  owed: new Set(),
  handlers: new Map<string, Answering>([
    [
      approvalCapability.id,
      ({ sender, payload }, ctx) => {
        const client = clientOf(ctx);
        const approvals = client.held.get(HELD_AS) as Approvals | undefined;
        if (approvals === undefined || !isSystemId(client.agentId)) return NOBODY_APPROVES;
        return approvals.decisionOf(sender, parseInput(approvalCapability, payload)) ?? { isOpen: true };
      },
    ],
    [
      givenApprovalCapability.id,
      ({ payload }, ctx) => {
        const client = clientOf(ctx);
        const takeGiven = client.held.get(OWNERS_HELD_AS) as TakeGiven | undefined;
        if (takeGiven === undefined || !isSystemId(client.agentId)) return false;
        return takeGiven(parseInput(givenApprovalCapability, payload));
      },
    ],
  ]),
  arrived: () => false,
  lost: () => undefined,
  ended: () => undefined,
};
