import { z } from 'zod';

/** Most severe first. */
export const SEVERITIES = ['critical', 'high', 'medium', 'low', 'info'] as const;

export const Severity = z.enum(SEVERITIES);
export type Severity = z.infer<typeof Severity>;

/**
 * One defect at one line, with what is needed to check it against the file.
 *
 * - `id`         the same for the same defect in the same file, run after run.
 * - `file`       relative to the repository, with `/`.
 * - `line`       1-based; `column` too, in UTF-16 units.
 * - `evidence`   the line's text, trimmed, cut at 200 characters, secrets masked after their first four.
 * - `lineSha256` of the whole line as it is in the file, so that masked evidence can still be verified.
 * - `trail`      the files of a cycle, the first repeated as the last; for a layer the importer and the imported.
 * - `help`       the address of a page about the rule.
 * - `agent`      who found it.
 */
export const Finding = z.strictObject({
  id: z.string().min(1),
  rule: z.string().min(1),
  severity: Severity,
  file: z.string().min(1),
  line: z.int().positive(),
  column: z.int().positive().optional(),
  message: z.string(),
  evidence: z.string().max(200),
  lineSha256: z.string().regex(/^[0-9a-f]{64}$/),
  trail: z.array(z.string()).optional(),
  help: z.url().optional(),
  agent: z.string().min(1),
});
export type Finding = z.infer<typeof Finding>;

/** A finding that the gate refused, and why. It is not part of the result. */
export const RefusedFinding = z.object({ finding: Finding, reason: z.string() });
export type RefusedFinding = z.infer<typeof RefusedFinding>;

/** What was left out of an audit, and why. Nothing is left out without one. */
export const Note = z.strictObject({
  kind: z.string().min(1),
  file: z.string().optional(),
  reason: z.string(),
});
export type Note = z.infer<typeof Note>;

/** `filesSeen` and `bytesSeen` count what was read and looked at, not what was listed. */
export const AuditReport = z.strictObject({
  findings: z.array(Finding),
  notes: z.array(Note),
  filesSeen: z.int().nonnegative(),
  bytesSeen: z.int().nonnegative(),
});
export type AuditReport = z.infer<typeof AuditReport>;
