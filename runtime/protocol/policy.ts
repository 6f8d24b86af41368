import type { AgentTier } from './agent-card.ts';
import type { Budget } from './budget.ts';
import type { A2AMessageType, PathHop } from './envelope.ts';
import type { ErrorCode, OrreryError } from './errors.ts';
import type { RoutingConfig } from './routing-config.ts';

/**
 * One side of an envelope as the policies see it: what its registered card says, never what the envelope claims.
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
 * One envelope on its way to one recipient.
 *
 * - `isGranted`     a reply under a grant: exempt from tier and escalation, never from the sandbox.
 * - `expectsReply`  an ask: the way back is judged too.
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

/** The refusal that an error stands for. */
export const verdictOf = ({ code, message }: OrreryError): Verdict => ({ code, reason: message });

/**
 * One rule about who may send what to whom.
 *
 * `judge` returns undefined to allow; it is pure but for state of its own and allocates nothing when it allows.
 * `withConfig` gives the same rule under another tier table or sandbox list; a rule that depends on neither has none.
 */
export interface JudgePolicy {
  readonly name: string;
  judge(request: JudgeRequest): Verdict | undefined;
  withConfig?(config: RoutingConfig): JudgePolicy;
}

const SYSTEM_PREFIX = 'system/';
/** Under which the embedder sends and is written to. */
export const HOST_ID = 'system/host';
/** Under which a loop that works with the team sends and is written to. */
export const LOOP_ID = 'system/loop';

/** Says whether the id belongs to the runtime itself: `system/host`, `system/loop`, ... */
export const isSystemId = (id: string): boolean => id.startsWith(SYSTEM_PREFIX);

/** The party of a system actor, which has no card. */
export const systemParty = (id: string): Party => ({ id, tier: 0, sandboxId: undefined, isSystem: true });

/** Says whether an envelope between the two goes from one tier to another: the system has none. */
export const isCrossTier = (source: Party, target: Party): boolean =>
  source.tier !== target.tier && !source.isSystem && !target.isSystem;
