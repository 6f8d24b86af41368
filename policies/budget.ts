import { Budget, isUsedUp } from '../runtime/protocol/budget.ts';
import { asksForWork } from '../runtime/protocol/envelope.ts';
import { budgetUsedUp, invalidEnvelope } from '../runtime/protocol/errors.ts';
import { faultsOf } from '../runtime/protocol/payload-faults.ts';
import type { JudgePolicy, Verdict } from '../runtime/protocol/policy.ts';

/**
 * Refuses work for which nothing is left, BUDGET_EXCEEDED, and a budget that is none, INVALID_ENVELOPE.
 *
 * What asks for no work is let pass: whoever has spent everything may still say so.
 */
export const budget = (): JudgePolicy => ({
  name: 'budget',
  judge: (request) => (request.budget === undefined ? undefined : judgeBudget(request.budget, request.type)),
});

function judgeBudget(given: Budget, type: Parameters<typeof asksForWork>[0]): Verdict | undefined {
  const parsed = Budget.safeParse(given);
  if (!parsed.success) {
    const faults = faultsOf(parsed.error, given, 'metadata.budget');
    return { code: 'INVALID_ENVELOPE', reason: invalidEnvelope(faults).message };
  }
  if (!asksForWork(type) || !isUsedUp(given)) return undefined;
  return { code: 'BUDGET_EXCEEDED', reason: budgetUsedUp(given).message };
}
