import { z } from 'zod';
import { isOrreryError } from '../../../runtime/protocol/errors.ts';
import { mayAs, Role, WRITER_OF_LAYER } from '../role.ts';
import { compilePattern } from '../rules/pattern.ts';
import { Violation } from '../rules/rule.ts';
import { storedText } from '../skill-text.ts';
import { PolicyId, type PolicyLayer } from './policy.ts';

/** A violation, and of which policy. Without `constraint` it is none of a rule, but of the policies as such. */
export const PolicyViolation = Violation.extend({
  policyId: z.string(),
  constraint: Violation.shape.constraint.optional(),
});
export type PolicyViolation = z.infer<typeof PolicyViolation>;

const MESSAGES = 'messagePattern';

function addFault(source: string, ctx: z.RefinementCtx<string>): void {
  try {
    compilePattern(MESSAGES, source);
  } catch (error) {
    if (!isOrreryError(error)) throw error;
    ctx.addIssue({ code: 'custom', message: String(error.details['expected']), input: source });
  }
}

/**
 * Which violations do not count for a while, and why.
 *
 * - `ruleId`         only those of this rule.
 * - `messagePattern` only those whose message has this pattern in it (RE2's syntax).
 * - `expiresAt`      until when, Unix milliseconds.
 */
export const NewSuppression = z.strictObject({
  policyId: PolicyId,
  ruleId: storedText(1_000).optional(),
  messagePattern: storedText(1_000).superRefine(addFault).optional(),
  reason: storedText(2_000).describe('Why these violations do not count for a while'),
  expiresAt: z.int().positive().describe('Until when they do not count, Unix milliseconds'),
});
export type NewSuppression = z.infer<typeof NewSuppression>;

/** - `role` that of its author: it says of which layers the mandatory policies are that it reaches. */
export const Suppression = NewSuppression.extend({
  id: z.string(),
  messagePattern: z.string().optional(),
  author: z.string(),
  role: Role,
  createdAt: z.int(),
});
export type Suppression = z.infer<typeof Suppression>;

/** Finds the suppression of a violation of a policy that is mandatory from `mandatoryAt` on; undefined where it counts. */
export type FindSuppression = (
  violation: PolicyViolation,
  mandatoryAt: PolicyLayer | undefined,
) => Suppression | undefined;

/** Finds the suppression of violations, of those that have not expired by `now`. */
export function suppressionsOf(suppressions: readonly Suppression[], now: number): FindSuppression {
  const active = suppressions
    .filter(({ expiresAt }) => expiresAt > now)
    .map((suppression) => ({ suppression, isIn: patternOf(suppression) }));
  const byPolicy = Map.groupBy(active, ({ suppression }) => suppression.policyId);
  return ({ policyId, ruleId, message }, mandatoryAt) =>
    byPolicy
      .get(policyId)
      ?.find(
        ({ suppression, isIn }) =>
          (suppression.ruleId ?? ruleId) === ruleId &&
          maySuppress(suppression.role, mandatoryAt) &&
          isIn(message),
      )?.suppression;
}

/** Whether a role may suppress what is mandatory from a layer on: whoever could put it there may. */
const maySuppress = (role: Role, mandatoryAt: PolicyLayer | undefined): boolean =>
  mayAs(role, roleToSuppress(mandatoryAt));

/** The role that suppressing takes: at least that of a tech lead. */
export function roleToSuppress(mandatoryAt: PolicyLayer | undefined): Role {
  const needed = mandatoryAt === undefined ? 'tech-lead' : WRITER_OF_LAYER[mandatoryAt];
  return mayAs(needed, 'tech-lead') ? needed : 'tech-lead';
}

function patternOf({ messagePattern }: Suppression): (message: string) => boolean {
  if (messagePattern === undefined) return () => true;
  const { find } = compilePattern(MESSAGES, messagePattern);
  return (message) => find(message) !== undefined;
}
