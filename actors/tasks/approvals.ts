import type { z } from 'zod';
import { ApprovalDecision, type Approver } from '../../runtime/protocol/approval.ts';
import { parseInput } from '../../runtime/protocol/capability.ts';
import type { A2AEnvelope } from '../../runtime/protocol/envelope.ts';
import { reasonOf } from '../../runtime/protocol/errors.ts';
import { isSystemId } from '../../runtime/protocol/policy.ts';
import { requireFunction } from '../../runtime/protocol/parse-options.ts';
import {
  type AgentClient,
  type Interceptor,
  clientOf,
  type HandlingContext,
  type System,
} from '../../runtime/public.ts';
import { approvalCapability, givenApprovalCapability, NOBODY_APPROVES } from './approval-of.ts';

/** Under which name the embedder's client holds who approves. */
const HELD_AS = 'approvals';
/** Requests that are not decided, or of whose decision nobody has heard. */
const MAX_OPEN = 10_000;

/** Under which it holds what owners have decided in tasks that are worked at. */
const OWNERS_HELD_AS = 'approvals of owners';

type Asked = z.infer<typeof approvalCapability.input>;
type Given = z.infer<typeof givenApprovalCapability.input>;
/** Uses up what was decided; false when there is nothing such. */
type TakeGiven = (given: Given) => boolean;

/** What agents want to have approved, until they have heard of the decision. */
class Approvals {
  readonly #approver: Approver;
  /** By who asks, and the id of the request. */
  readonly #open = new Map<string, { decision: ApprovalDecision | undefined }>();

  constructor(approver: Approver) {
    this.#approver = approver;
  }

  /** What was decided; undefined as long as nothing is. The first time somebody is asked. */
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

/** Has `takeGiven` say what the owners of tasks have decided. */
export function heedOwners(client: AgentClient, takeGiven: TakeGiven): void {
  client.held.set(OWNERS_HELD_AS, takeGiven);
}

/** Says whether somebody is asked. */
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
