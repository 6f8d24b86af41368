const OVER: ReadonlySet<string> = new Set([
  'accepted',
  'answered',
  'failed',
  'blocked',
  'done',
  'skipped',
  'canceled',
  'cancelled',
  'nothing',
  'exhausted',
  'escalated',
]);

/** What is typed in a terminal to have a task go on that waits for people; undefined for any other. */
export const orderFor = ({
  id,
  state,
}: {
  readonly id: string;
  readonly state: string;
}): string | undefined => (state === 'held' ? `orrery approve ${id}` : undefined);

/** Whether nothing more happens with a task that is in this state. */
export const isTaskOver = (state: string): boolean => OVER.has(state);
