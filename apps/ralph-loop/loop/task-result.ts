import { z } from 'zod';
import { Finding, Note } from '../findings/finding.ts';

/**
 * What an agent may answer a task with: an audit's report, or any object; what the report has no place for is
 * dropped.
 *
 * - `notes`                   what the agent left out or could not read, and why.
 * - `filesSeen`, `bytesSeen`  how much it looked at.
 */
export const TaskResult = z.object({
  findings: z.array(Finding).default([]),
  notes: z.array(Note).default([]),
  filesSeen: z.int().nonnegative().optional(),
  bytesSeen: z.int().nonnegative().optional(),
});
export type TaskResult = z.infer<typeof TaskResult>;
