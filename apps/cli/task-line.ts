import { type LoopEvent, printable } from '@orrery/ralph-loop';

type TaskNews = Extract<LoopEvent, { type: 'task.changed' | 'progress.lost' }>;

/** Formats a task that is over as a line. */
export function taskLine(event: TaskNews): string {
  if (event.type === 'progress.lost')
    return printable(`${event.task} is done, but that could not be kept: ${event.why}`);
  const { task, status, agent, why, attempt } = event;
  if (status === 'nothing') return printable(`${task}: ${why}`);
  if (status !== 'accepted') return printable(`${task} ${status}: ${why}`);
  const again = attempt > 1 ? `, attempt ${attempt}` : '';
  return printable(`${task}: ${whatCame(event)}${agent === undefined ? '' : ` (${agent}${again})`}`);
}

/** The result of a task: its summary, or else the number of findings. */
function whatCame({ findings: { length }, summary }: Extract<TaskNews, { type: 'task.changed' }>): string {
  const said = summary?.split('\n', 1) ?? [];
  const found = length === 0 ? 'no findings' : `${length} finding${length === 1 ? '' : 's'}`;
  return (length === 0 && said.length > 0 ? said : [found, ...said]).join('; ');
}
