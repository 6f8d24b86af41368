/**
 * What a state of a task means to a reader.
 *
 * - `phase` it is yet to be begun, or in hand, or nothing more happens with it.
 * - `level` `bad`: it has come to nothing. `warning`: it may need somebody. `good`: it is done.
 * - `icon`  of the page.
 * - `says`  of a task that is over and not done, after its name.
 */
interface TaskState {
  readonly phase: 'open' | 'in hand' | 'over';
  readonly level?: 'bad' | 'warning' | 'good';
  readonly icon: string;
  readonly says?: string;
}

const OPEN = { phase: 'open', icon: 'idle' } as const;
const OFFERED = { phase: 'open', icon: 'starting' } as const;
const LOOKED_AT = { phase: 'in hand', icon: 'waiting' } as const;
const DONE = { phase: 'over', level: 'good', icon: 'good' } as const;
const LEFT = { phase: 'over', icon: 'stopped' } as const;
const UNKNOWN: TaskState = { phase: 'open', icon: 'unknown' };

const lost = (level: 'bad' | 'warning', says: string): TaskState => ({
  phase: 'over',
  level,
  icon: level === 'bad' ? 'bad' : 'parked',
  says,
});

const STATES: ReadonlyMap<string, TaskState> = new Map<string, TaskState>([
  ['waiting', OPEN],
  ['ready', OPEN],
  ['offered', OFFERED],
  ['proposed', OFFERED],
  ['working', { phase: 'in hand', icon: 'busy' }],
  ['judging', LOOKED_AT],
  ['checking', LOOKED_AT],
  ['reviewing', LOOKED_AT],
  ['merging', LOOKED_AT],
  ['recovering', LOOKED_AT],
  ['held', { phase: 'in hand', level: 'warning', icon: 'parked' }],
  ['resting', { phase: 'in hand', icon: 'parked' }],
  ['accepted', DONE],
  ['answered', DONE],
  ['done', DONE],
  ['nothing', DONE],
  ['skipped', LEFT],
  ['canceled', LEFT],
  ['cancelled', LEFT],
  ['failed', lost('bad', 'failed')],
  ['exhausted', lost('bad', 'has used up its attempts')],
  ['escalated', lost('bad', 'is left to a human')],
  ['blocked', lost('warning', 'is blocked')],
]);

/** What a state means; of one that is not known, that it is not over. */
export const taskState = (state: string): TaskState => STATES.get(state) ?? UNKNOWN;

/** Whether nothing more happens with a task that is in this state. */
export const isTaskOver = (state: string): boolean => taskState(state).phase === 'over';

/** What is typed in a terminal to have a task go on that waits for people; undefined for any other. */
export const orderFor = ({
  id,
  state,
}: {
  readonly id: string;
  readonly state: string;
}): string | undefined => (state === 'held' ? `orrery approve ${id}` : undefined);
