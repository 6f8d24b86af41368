import { z } from 'zod';
import { Severity } from '../rules/rule.ts';
import { PolicyViolation } from './suppression.ts';

const Summary = z.record(Severity, z.int().nonnegative());
const Versions = z.record(z.string(), z.string());
const NotJudged = z.array(z.strictObject({ policyId: z.string(), ruleId: z.string() })).readonly();

/**
 * What came of checking a context by the policies of a layer.
 *
 * - `isValid`        nothing is broken, of whatever severity; `passed`: nothing that blocks.
 * - `violations`     the worst first, at most a hundred, of the severity that was asked for and worse; `summary` counts all.
 * - `policies`       ids of those that were applied, and `policyVersions` what they say.
 * - `notJudged`      rules about something that the context does not have: they may be broken. At most a hundred.
 */
export const Validation = z.strictObject({
  isValid: z.boolean(),
  passed: z.boolean(),
  violations: z.array(PolicyViolation).readonly(),
  summary: Summary,
  policies: z.array(z.string()).readonly(),
  policyVersions: Versions,
  notJudged: NotJudged,
});
export type Validation = z.infer<typeof Validation>;

/**
 * How far a project has drifted from its policies.
 *
 * - `driftScore`           0, none, to 1: of what breaks them each block counts 1, each warning 0.5, each information 0.1.
 * - `passes`, `withinThreshold` the score is at most `threshold`. `hasDrift`: it is more than 0.
 * - `violations`           the worst first, at most a hundred; `summary` counts all that are not suppressed.
 * - `suppressed`           those that did not count and why, at most a hundred, and `suppressedCount` how many they were.
 * - `confidence`           1: rules are judged as they are, and nothing is guessed.
 * - `requiresManualReview` a rule is about something that the context does not have, so that it may be broken: `notJudged`.
 * - `checkedAt`            Unix milliseconds.
 */
export const DriftResult = z.strictObject({
  driftId: z.string(),
  project: z.string(),
  driftScore: z.number().min(0).max(1),
  threshold: z.number(),
  passes: z.boolean(),
  withinThreshold: z.boolean(),
  hasDrift: z.boolean(),
  violations: z.array(PolicyViolation).readonly(),
  summary: Summary,
  suppressed: z
    .array(
      z.strictObject({
        violation: PolicyViolation,
        suppressionId: z.string().optional(),
        reason: z.string(),
      }),
    )
    .readonly(),
  suppressedCount: z.int().nonnegative(),
  confidence: z.number().min(0).max(1),
  requiresManualReview: z.boolean(),
  notJudged: NotJudged,
  policies: z.array(z.string()).readonly(),
  policyVersions: Versions,
  checkedAt: z.int(),
});
export type DriftResult = z.infer<typeof DriftResult>;
