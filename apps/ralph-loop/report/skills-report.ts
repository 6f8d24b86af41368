import { z } from 'zod';

const Count = z.int().nonnegative();
const RuleSeverity = z.enum(['info', 'warn', 'block']);
const Summary = z.strictObject({ info: Count, warn: Count, block: Count });

/** A rule that the repository breaks. - `rule` of which item of knowledge or which policy it is. */
export const BrokenRule = z.strictObject({
  rule: z.string(),
  severity: RuleSeverity,
  message: z.string(),
  file: z.string().optional(),
  line: z.int().positive().optional(),
});
export type BrokenRule = z.infer<typeof BrokenRule>;

/**
 * What the skills of the team had to do with the mission.
 *
 * - `project`   what the repository is called in memory and in governance.
 * - `recalled`  the tasks with `recall`, and the ids of the memories that their agents were given.
 * - `learned`   how many memories were added, say something else by now (`changed`), were known already (`kept`), and do not hold
 *               any more (`gone`); `omitted` findings are not remembered, because a task has too many.
 * - `knowledge` the check of the repository against its rules; absent where there are none. `checkedItems` how many were checked;
 *               `passed` nothing blocks; `faults` files of `.orrery/knowledge` that are none; `unread` files that were too large.
 * - `drift`     how far the repository is from the policies; absent where there are none. `notJudged` rules that may be broken.
 * - `failures`  what the skills could not do, and why.
 */
export const SkillsReport = z.strictObject({
  project: z.string(),
  recalled: z.array(z.strictObject({ task: z.string(), memories: z.array(z.string()) })),
  learned: z.strictObject({ added: Count, changed: Count, kept: Count, gone: Count, omitted: Count }),
  knowledge: z
    .strictObject({
      checkedItems: Count,
      passed: z.boolean(),
      isValid: z.boolean(),
      summary: Summary,
      violations: z.array(BrokenRule),
      omitted: Count,
      faults: z.array(z.strictObject({ file: z.string(), message: z.string() })),
      unread: Count,
    })
    .optional(),
  drift: z
    .strictObject({
      score: z.number(),
      threshold: z.number(),
      passes: z.boolean(),
      summary: Summary,
      violations: z.array(BrokenRule),
      suppressed: Count,
      notJudged: Count,
    })
    .optional(),
  failures: z.array(z.string()),
});
export type SkillsReport = z.infer<typeof SkillsReport>;
