import { z } from 'zod';

/** The severities, most severe first. */
export const SEVERITIES = ['critical', 'high', 'medium', 'low', 'info'] as const;

/** How severe a finding is. */
export const Severity = z.enum(SEVERITIES);
export type Severity = z.infer<typeof Severity>;

/**
 * A defect at a line, with what is needed to verify it against the file.
 *
 * - `id`         the same for the same defect in the same file, in every run.
 * - `file`       relative to the repository, with `/`.
 * - `line`, `column` from 1; columns in UTF-16 units.
 * - `evidence`   text of the line, trimmed, at most 200 characters, secrets masked after four characters.
 * - `lineSha256` SHA-256 of the whole line, so that masked evidence can be verified.
 * - `trail`      files of a cycle, the first repeated at the end; for a layer, importer and imported.
 * - `help`       URL of a page about the rule.
 * - `agent`      id of the agent that found it.
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

/** A finding that the gate has refused, and why. It is not part of the result. */
export const RefusedFinding = z.object({ finding: Finding, reason: z.string() });
export type RefusedFinding = z.infer<typeof RefusedFinding>;

/** Something that was left out, and why. */
export const Note = z.strictObject({
  kind: z.string().min(1),
  file: z.string().optional(),
  reason: z.string(),
});
export type Note = z.infer<typeof Note>;

/** The report of an agent. `filesSeen` and `bytesSeen` count what was read, not what was listed. */
export const AuditReport = z.strictObject({
  findings: z.array(Finding),
  notes: z.array(Note),
  filesSeen: z.int().nonnegative(),
  bytesSeen: z.int().nonnegative(),
});
export type AuditReport = z.infer<typeof AuditReport>;
