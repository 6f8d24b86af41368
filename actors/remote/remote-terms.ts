import type { DelegationOrder } from '../../runtime/protocol/a2a-extension.ts';
import { assignmentIn } from '../../runtime/protocol/assignment-note.ts';
import { type Budget, type Cost, isUsedUp } from '../../runtime/protocol/budget.ts';
import type { PathHop } from '../../runtime/protocol/envelope.ts';
import { budgetUsedUp, noHopsLeft } from '../../runtime/protocol/errors.ts';
import type { HandlingContext } from '../../runtime/public.ts';

/** The agent's name across systems: `<system>/<agent>`. An agent of another system has such a name already. */
export const nameElsewhere = (agent: string, self: string): string =>
  agent.includes('/') ? agent : `${self}/${agent}`;

/**
 * The terms of the work in hand for another system, none wider than here (F-04, C-15). `reserved` is what the request may
 * spend there. Throws HOP_LIMIT and BUDGET_EXCEEDED if nothing is left to pass on.
 */
export function termsFor(
  ctx: HandlingContext<never>,
  { self, maxBudget }: { readonly self: string; readonly maxBudget: Cost | undefined },
): { readonly order: DelegationOrder; readonly reserved: Cost } {
  const { metadata = { tier: 3 } } = ctx.envelope;
  const { budget } = ctx;
  if (budget.hops === 0) throw noHopsLeft(ctx.self);
  if (isUsedUp(budget)) throw budgetUsedUp(budget);
  const reserved = reservedOf(budget, maxBudget);
  const { deadlineAtMs, path = [], resumeFrom } = metadata;
  const assignment = assignmentIn(ctx.envelope);
  const hops = budget.hops === undefined ? {} : { hops: budget.hops - 1 };
  const given = { ...reserved, ...hops };
  return {
    reserved,
    order: {
      path: path.map((hop: PathHop) => ({ ...hop, agent: nameElsewhere(hop.agent, self) })),
      ...(deadlineAtMs === undefined ? {} : { deadlineMs: Math.max(1, deadlineAtMs - ctx.now()) }),
      ...(Object.keys(given).length === 0 ? {} : { budget: given }),
      ...(assignment === undefined ? {} : { assignment }),
      ...(resumeFrom === undefined ? {} : { resumeFrom: resumeFrom as never }),
    },
  };
}

/** The smaller of budget and `most`, for each amount. An amount without a limit is not reserved. */
function reservedOf(budget: Budget, most: Cost | undefined): Cost {
  const amounts = (['tokens', 'costUsd'] as const).flatMap((field) => {
    const [there, limit] = [budget[field], most?.[field]];
    const amount = there === undefined ? limit : limit === undefined ? there : Math.min(there, limit);
    return amount === undefined ? [] : [[field, amount] as const];
  });
  return Object.fromEntries(amounts);
}
