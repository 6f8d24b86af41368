import { z } from 'zod';
import { Rule, Severity } from '../rules/rule.ts';

const MOST_CONSTRAINTS = 100;

/**
 * What an item wants of a project: a rule, as `Rule` has it.
 *
 * - `id`       tells the constraints of an item apart. @default its number, the first is 1
 * - `severity` @default that of the item, or 'warn'
 */
export const Constraint = z.strictObject({
  id: z
    .string()
    .regex(/^[\w.-]{1,100}$/, 'expected 1 to 100 letters, digits, dots, dashes and underscores')
    .optional(),
  operator: Rule.shape.operator,
  target: Rule.shape.target,
  value: Rule.shape.value,
  severity: Severity.optional(),
  message: Rule.shape.message,
});
export type Constraint = Readonly<z.infer<typeof Constraint>>;

/** The constraints of an item. */
export const Constraints = z
  .array(Constraint)
  .max(MOST_CONSTRAINTS)
  .readonly()
  .superRefine((constraints, ctx) => {
    const known = new Set<string>();
    for (const [at, constraint] of constraints.entries()) {
      const name = nameOf(constraint, at);
      if (known.has(name))
        ctx.addIssue({
          code: 'custom',
          path: [at, 'id'],
          input: constraint.id,
          message: `expected an id that no other constraint has: "${name}" is another one's`,
        });
      known.add(name);
    }
  });

const nameOf = ({ id }: Constraint, at: number): string => id ?? String(at + 1);

/** The constraints of an item as rules, whose ids begin with the item's. */
export const rulesOf = (item: {
  readonly id: string;
  readonly severity?: Severity | undefined;
  readonly constraints: readonly Constraint[];
}): Rule[] =>
  item.constraints.map((constraint, at) => ({
    id: `${item.id}#${nameOf(constraint, at)}`,
    ruleType: 'allow',
    target: constraint.target,
    operator: constraint.operator,
    value: constraint.value,
    severity: constraint.severity ?? item.severity ?? 'warn',
    message: constraint.message,
  }));
