import { z } from 'zod';
import { Finding, Note } from '../findings/finding.ts';
import { Attempt } from './attempt.ts';
import { TaskStatus } from './task-status.ts';
import type { TaskView } from './why-it-goes-on.ts';
import { tainted } from './work-taint.ts';

/**
 * The result of a task, for the agent of a task that comes `after` it.
 *
 * - `id`          id of the task, or `task/capability`.
 * - `why`         a sentence about its status.
 * - `agent`, `place` its last agent, and where that ran; absent if it had none.
 * - `attempts`    oldest first.
 * - `findings`    those that the gate approved.
 * - `taint`       where what its agents said came from outside.
 */
export const EarlierResult = z.object({
  id: z.string(),
  title: z.string(),
  capability: z.string(),
  status: TaskStatus,
  why: z.string(),
  agent: z.string().optional(),
  place: z.string().optional(),
  attempts: z.array(Attempt),
  findings: z.array(Finding),
  notes: z.array(Note),
  filesSeen: z.int().nonnegative().optional(),
  bytesSeen: z.int().nonnegative().optional(),
  nothing: z.string().optional(),
  summary: z.string().optional(),
  taint: z.array(z.string()).readonly().optional(),
});
export type EarlierResult = z.infer<typeof EarlierResult>;

export function earlierResult({ status, context }: TaskView): EarlierResult {
  const { item, why, attempts, findings, result, assignee, taint } = context;
  const { notes = [], filesSeen, bytesSeen, nothing, summary } = result ?? {};
  const last = assignee ?? attempts.at(-1);
  return {
    id: item.id,
    title: item.title,
    capability: item.capability,
    status,
    why,
    ...(last === undefined ? {} : { agent: last.agent, place: last.place }),
    attempts: [...attempts],
    findings: [...findings],
    notes,
    ...(filesSeen === undefined ? {} : { filesSeen }),
    ...(bytesSeen === undefined ? {} : { bytesSeen }),
    ...(nothing === undefined ? {} : { nothing }),
    ...(summary === undefined ? {} : { summary }),
    ...tainted(taint),
  };
}
