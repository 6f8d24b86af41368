import { CodingUsage } from 'orrery/coding';
import { z } from 'zod';
import { Finding, Note } from '../findings/finding.ts';

/**
 * The answer of an agent to a task: an audit's report, or any object. Unknown fields are dropped.
 *
 * - `notes`     what the agent left out or could not read, and why.
 * - `filesSeen`, `bytesSeen` how much it has read.
 * - `nothing`   why there was nothing to read ("no stylesheets"). Ignored if there are findings.
 * - `summary`   a sentence or two for readers of the report.
 * - `usage`     tokens and dollars that a coding agent has used.
 */
export const TaskResult = z.object({
  findings: z.array(Finding).default([]),
  notes: z.array(Note).default([]),
  filesSeen: z.int().nonnegative().optional(),
  bytesSeen: z.int().nonnegative().optional(),
  nothing: z.string().min(1).optional(),
  summary: z.string().min(1).optional(),
  usage: CodingUsage.optional(),
});
export type TaskResult = z.infer<typeof TaskResult>;
