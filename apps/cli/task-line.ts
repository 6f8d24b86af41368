import { firstLine, type LoopEvent, printable } from '@orrery/ralph-loop';

type TaskNews = Extract<LoopEvent, { type: 'task.changed' | 'progress.lost' }>;

/** Formats a task that is over as a line. `change` says that it was to change the repository, and what that has cost. */
export function taskLine(event: TaskNews, change?: { readonly cost: string | undefined }): string {
  if (event.type === 'progress.lost')
    return printable(`${event.task} is done, but that could not be kept: ${event.why}`);
  if (change !== undefined) return changeLine(event, change);
  const { task, status, agent, why, attempt } = event;
  if (status === 'nothing') return printable(`${task}: ${why}`);
  if (status !== 'accepted') return printable(`${task} ${status}: ${why}`);
  const again = attempt > 1 ? `, attempt ${attempt}` : '';
  return printable(`${task}: ${whatCame(event)}${agent === undefined ? '' : ` (${agent}${again})`}`);
}

/** Gates say what a change has come to, so what its agent says of it is left out. */
function changeLine(
  { task, status, agent, why, attempt }: Extract<TaskNews, { type: 'task.changed' }>,
  { cost }: { readonly cost: string | undefined },
): string {
  const by = [
    ...(agent === undefined ? [] : [agent]),
    ...(attempt > 1 ? [`attempt ${attempt}`] : []),
    ...(cost === undefined ? [] : [cost]),
  ].join(', ');
  return printable(`${task} ${status}: ${firstLine(why)}${by === '' ? '' : ` (${by})`}`);
}

/** The result of a task: its summary, or else the number of findings. */
function whatCame({ findings: { length }, summary }: Extract<TaskNews, { type: 'task.changed' }>): string {
  const said = summary === undefined ? [] : [firstLine(summary)];
  const found = length === 0 ? 'no findings' : `${length} finding${length === 1 ? '' : 's'}`;
  return (length === 0 && said.length > 0 ? said : [found, ...said]).join('; ');
}
