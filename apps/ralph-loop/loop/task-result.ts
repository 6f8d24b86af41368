import { z } from 'zod';
import { Finding, Note } from '../findings/finding.ts';

/**
 * What an agent may answer a task with: an audit's report, or any object; what the report has no place for is
 * dropped.
 *
 * - `notes`                   what the agent left out or could not read, and why.
 * - `filesSeen`, `bytesSeen`  how much it looked at.
 * - `nothing`                 says why there was nothing to look at ("no stylesheets"). With findings it does not count.
 * - `summary`                 what it came to in a sentence or two, for the reader of the report.
 */
export const TaskResult = z.object({
  findings: z.array(Finding).default([]),
  notes: z.array(Note).default([]),
  filesSeen: z.int().nonnegative().optional(),
  bytesSeen: z.int().nonnegative().optional(),
  nothing: z.string().min(1).optional(),
  summary: z.string().min(1).optional(),
});
export type TaskResult = z.infer<typeof TaskResult>;
