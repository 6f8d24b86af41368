import { type LoopEvent, printable } from '@orrery/ralph-loop';

type TaskNews = Extract<LoopEvent, { type: 'task.changed' | 'progress.lost' }>;

/** A task that is over, in a line. */
export function taskLine(event: TaskNews): string {
  if (event.type === 'progress.lost')
    return printable(`${event.task} is done, but that could not be kept: ${event.why}`);
  const { task, status, agent, findings, why, attempt } = event;
  if (status === 'nothing') return printable(`${task}: ${why}`);
  if (status !== 'accepted') return printable(`${task} ${status}: ${why}`);
  const found =
    findings.length === 0 ? 'no findings' : `${findings.length} finding${findings.length === 1 ? '' : 's'}`;
  const again = attempt > 1 ? `, attempt ${attempt}` : '';
  return printable(`${task}: ${found}${agent === undefined ? '' : ` (${agent}${again})`}`);
}
