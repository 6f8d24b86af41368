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

/** Whether nothing more happens with a task that is in this state. */
export const isTaskOver = (state: string): boolean => OVER.has(state);
