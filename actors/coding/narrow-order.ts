import { refused } from '../../runtime/protocol/errors.ts';
import type { Budget } from '../../runtime/protocol/budget.ts';
import type { CodingBackend, CodingOrder } from './backends/coding-backend.ts';
import { type CodeChangeRequest, CodingPermission, type CodingLimits } from './code-change.ts';

/** What an agent allows at most. */
interface Most {
  readonly limits: CodingLimits;
  readonly permission: CodingPermission;
}

type TellingBackend = Pick<CodingBackend, 'id' | 'name' | 'tells'>;

/** The lower of two limits, field by field. */
function narrowerLimits(one: CodingLimits, other: CodingLimits): CodingLimits {
  const limits: CodingLimits = { ...one, ...other };
  for (const field of ['timeoutMs', 'maxTurns', 'maxTokens', 'maxCostUsd'] as const) {
    const [here, there] = [one[field], other[field]];
    if (here !== undefined && there !== undefined) limits[field] = Math.min(here, there);
  }
  return limits;
}

/** The permission that allows less. */
const lesserPermission = (one: CodingPermission, other: CodingPermission): CodingPermission =>
  CodingPermission.options.indexOf(one) < CodingPermission.options.indexOf(other) ? one : other;

/** A session that can stand among arguments: it was told by a program. */
const SESSION = /^[A-Za-z0-9][\w.:-]{0,199}$/;

/**
 * What a program is started for: what the request wants, as far as the agent allows it and the budget pays. Throws REFUSED
 * where a limit could not be kept, because the program does not tell what it uses.
 */
export function narrowOrder(
  request: Pick<CodeChangeRequest, 'limits' | 'permission' | 'session'>,
  most: Most,
  budget: Budget,
  backend: TellingBackend,
): CodingOrder {
  const limits = narrowerLimits(narrowerLimits(most.limits, request.limits), {
    ...(budget.tokens === undefined ? {} : { maxTokens: Math.max(1, budget.tokens) }),
    ...(budget.costUsd === undefined ? {} : { maxCostUsd: Math.max(0.000_001, budget.costUsd) }),
  });
  requireTold(backend, 'tokens', limits.maxTokens);
  requireTold(backend, 'costUsd', limits.maxCostUsd);
  return {
    limits,
    permission: lesserPermission(most.permission, request.permission),
    session: request.session !== undefined && SESSION.test(request.session) ? request.session : undefined,
  };
}

const LIMITED = { tokens: 'tokens', costUsd: 'dollars' } as const;

function requireTold(backend: TellingBackend, what: keyof typeof LIMITED, limit: number | undefined): void {
  if (limit === undefined || backend.tells.includes(what)) return;
  throw refused(
    `${backend.name} does not tell how many ${LIMITED[what]} it uses, so a limit of ${limit} could not be kept`,
    { backend: backend.id, what, limit },
  );
}
