import type { AgentTier } from './agent-card.ts';
import type { Budget } from './budget.ts';
import type { A2AMessageType, PathHop } from './envelope.ts';
import { type ErrorCode, ERROR_CODES, type OrreryError, reasonOf } from './errors.ts';
import type { RoutingConfig, SandboxRoutingConfig } from './routing-config.ts';

/**
 * Sender or recipient of an envelope, as the policies see it: by its registered card, never by what the envelope claims.
 *
 * `isSystem` marks `system/...`, which tier and sandbox rules let pass in both directions.
 */
export interface Party {
  readonly id: string;
  readonly tier: AgentTier;
  readonly sandboxId: string | undefined;
  readonly isSystem: boolean;
}

/**
 * One envelope that policies judge, for one recipient.
 *
 * - `isGranted`     a reply under a grant: exempt from tier and escalation, never from the sandbox.
 * - `expectsReply`  an ask: the answer's way back is judged, too.
 * - `justification` why a lower tier writes to a higher one.
 * - `capability`    which handler of the recipient is meant.
 * - `proposes`      of a proposal, the capabilities that it requires; `task-proposal` when it requires none.
 * - `path`          the requests and proposals above this envelope, oldest first.
 * - `budget`        what may be spent on it; undefined when that is not limited.
 * - `isTool`        a call that the tool host makes: exempt from tier and escalation, never from the sandbox.
 */
export interface JudgeRequest {
  readonly sender: Party;
  readonly recipient: Party;
  readonly type: A2AMessageType;
  readonly isBroadcast: boolean;
  readonly isGranted: boolean;
  readonly expectsReply: boolean;
  readonly justification: string | undefined;
  readonly capability: string | undefined;
  readonly proposes: readonly string[];
  readonly schemaVersion: number;
  readonly deadlineAtMs: number | undefined;
  readonly nowMs: number;
  readonly path: readonly PathHop[];
  readonly budget: Budget | undefined;
  readonly isTool: boolean;
}

/** A refusal: `retryAfterMs` when trying again later may help. */
export interface Verdict {
  readonly code: ErrorCode;
  readonly reason: string;
  readonly retryAfterMs?: number;
}

/** The refusal with the code and message of an error. */
export const verdictOf = ({ code, message }: OrreryError): Verdict => ({ code, reason: message });

/**
 * One rule about who may send what to whom.
 *
 * `judge` returns undefined to allow. It has no effects beside state of its own, and allocates nothing when it allows.
 * `withConfig` returns the same rule under another tier table or sandbox list. A rule that depends on neither has none.
 */
export interface JudgePolicy {
  readonly name: string;
  judge(request: JudgeRequest): Verdict | undefined;
  withConfig?(config: RoutingConfig): JudgePolicy;
}

const SYSTEM_PREFIX = 'system/';
/** The id of the embedder. */
export const HOST_ID = 'system/host';
/** The id of a loop that works with the team. */
export const LOOP_ID = 'system/loop';

/** Says whether the id belongs to the runtime itself: `system/host`, `system/loop`, ... */
export const isSystemId = (id: string): boolean => id.startsWith(SYSTEM_PREFIX);

/** The party of a system actor, which has no card. */
export const systemParty = (id: string): Party => ({ id, tier: 0, sandboxId: undefined, isSystem: true });

/** Says whether an envelope between the two goes from one tier to another. The system has no tier. */
export const isCrossTier = (source: Party, target: Party): boolean =>
  source.tier !== target.tier && !source.isSystem && !target.isSystem;

/**
 * The first refusal among the policies, or undefined when all of them allow.
 *
 * If a policy throws, or returns what is no verdict, the envelope is refused with that policy's name.
 */
export function judge(policies: readonly JudgePolicy[], request: JudgeRequest): Verdict | undefined {
  let asked: JudgePolicy | undefined;
  try {
    // This runs for every envelope: an iterator would be made for each.
    for (let at = 0; at < policies.length; at++) {
      asked = policies[at] as JudgePolicy;
      const verdict = asked.judge(request);
      if (verdict !== undefined)
        return isVerdict(verdict) ? verdict : failed(asked, 'it returned no verdict');
    }
    return undefined;
  } catch (error) {
    return failed(asked, reasonOf(error));
  }
}

const failed = (policy: JudgePolicy | undefined, reason: string): Verdict => ({
  code: 'REFUSED',
  reason: `The policy "${policy?.name}" could not judge: ${reason}`,
});

function isVerdict(value: unknown): value is Verdict {
  const { code, reason } = (value ?? {}) as Partial<Verdict>;
  return code !== undefined && ERROR_CODES.includes(code) && typeof reason === 'string';
}

/** Says whether the sandbox rule lets `from` write to `to`. */
export type SandboxReach = (from: Party, to: Party) => boolean;

/**
 * The sandbox rule under `config`, for delivery and discovery: an agent does not see what it may not reach.
 *
 * Only a sandboxed sender is bound: to its own sandbox, the agents on the lists, and the system.
 */
export function sandboxReach({
  enforced,
  crossSandboxAllowList,
  allow = {},
}: SandboxRoutingConfig): SandboxReach {
  if (!enforced) return () => true;
  const fromEverywhere = new Set(crossSandboxAllowList);
  const fromOne = new Map(Object.entries(allow).map(([sandboxId, ids]) => [sandboxId, new Set(ids)]));
  return (from, to) =>
    from.sandboxId === undefined ||
    from.sandboxId === to.sandboxId ||
    from.isSystem ||
    to.isSystem ||
    fromEverywhere.has(to.id) ||
    fromOne.get(from.sandboxId)?.has(to.id) === true;
}
