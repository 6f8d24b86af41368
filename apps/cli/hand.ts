import {
  advanceSpending,
  isOver,
  type LoopEvent,
  NO_SPENDING,
  type Spending,
  type TaskStatus,
} from '@orrery/ralph-loop';

/** A tool that a coding agent has begun to use. */
export interface OpenTool {
  readonly id: string;
  readonly title: string;
  /** The files that it changes. */
  readonly changes: readonly string[];
}

/** A gate of a change. - `why` it has passed or failed; undefined while it runs. */
export interface SeenGate {
  readonly name: string;
  readonly passed?: boolean;
  readonly why?: string;
  readonly tests?: number;
}

/**
 * A task in hand, as far as it is told.
 *
 * - `attempt`   from 1; `because` says why it is not the first.
 * - `sinceMs`   when it got its status, Unix milliseconds.
 * - `isHeard`   its agent has done something in this attempt.
 * - `tools`     that are under way; the one begun last comes last.
 * - `changed`   the file that was changed last, as the agent's program says.
 * - `gate`      that runs, or ran last, in this attempt.
 * - `limited`   why its provider lets it wait.
 */
export interface Hand {
  readonly status: TaskStatus;
  readonly agent: string | undefined;
  readonly attempt: number;
  readonly because: string | undefined;
  readonly why: string;
  readonly sinceMs: number;
  readonly isHeard: boolean;
  readonly tools: readonly OpenTool[];
  readonly changed: string | undefined;
  readonly gate: SeenGate | undefined;
  readonly limited: string | undefined;
}

/**
 * The tasks in hand of a mission that changes a repository, and what each task has used.
 *
 * - `changes` ids of the tasks that are known to change it.
 */
export interface Hands {
  readonly tasks: ReadonlyMap<string, Hand>;
  readonly changes: ReadonlySet<string>;
  readonly spending: Spending;
}

/** The hands before a mission. `changes` are those that are known; others show by what happens. */
export const emptyHands = (changes: Iterable<string> = []): Hands => ({
  tasks: new Map(),
  changes: new Set(changes),
  spending: NO_SPENDING,
});

/** The most tools of one agent that are kept in mind. */
const MAX_TOOLS = 8;
const CHANGING: ReadonlySet<string> = new Set(['edit', 'delete', 'move']);
/** Only a task that changes the repository has these. */
const OF_CHANGES: ReadonlySet<TaskStatus> = new Set(['checking', 'reviewing', 'held', 'merging']);

/** Returns the hands after an event. */
export function advanceHands(hands: Hands, event: LoopEvent): Hands {
  const spending = advanceSpending(hands.spending, event);
  const next = spending === hands.spending ? hands : { ...hands, spending };
  switch (event.type) {
    case 'task.changed':
      return changed(next, event);
    case 'task.coding':
      return moved(next, event, (hand) => ({ ...coded(hand, event.event), agent: event.agent }));
    case 'task.gate':
      return moved(next, event, (hand) => ({ ...hand, gate: gateOf(event.event) }));
    default:
      return next;
  }
}

type Changed = Extract<LoopEvent, { type: 'task.changed' }>;

function changed(hands: Hands, event: Changed): Hands {
  const { task, status } = event;
  const known = OF_CHANGES.has(status) ? withChange(hands, task) : hands;
  const tasks = new Map(known.tasks);
  if (isOver(status)) tasks.delete(task);
  else tasks.set(task, handOf(tasks.get(task), event));
  return { ...known, tasks };
}

function handOf(before: Hand | undefined, { status, agent, attempt, why, atMs }: Changed): Hand {
  const isAnew = before === undefined || status === 'working';
  const because = before !== undefined && attempt > before.attempt ? why : before?.because;
  const kept = isAnew ? NOTHING_SEEN : before;
  const sinceMs = before?.status === status && !isAnew ? before.sinceMs : atMs;
  const { isHeard, tools, changed: file, gate, limited } = kept;
  return { status, agent, attempt, because, why, sinceMs, isHeard, tools, changed: file, gate, limited };
}

const NOTHING_SEEN: Pick<Hand, 'isHeard' | 'tools' | 'changed' | 'gate' | 'limited'> = {
  isHeard: false,
  tools: [],
  changed: undefined,
  gate: undefined,
  limited: undefined,
};

const withChange = (hands: Hands, task: string): Hands =>
  hands.changes.has(task) ? hands : { ...hands, changes: new Set([...hands.changes, task]) };

/** Changes the hand of a task that changes the repository. What comes late, of a task that is over, changes nothing. */
function moved(hands: Hands, { task }: { readonly task: string }, change: (hand: Hand) => Hand): Hands {
  const hand = hands.tasks.get(task);
  if (hand === undefined) return hands;
  return { ...withChange(hands, task), tasks: new Map(hands.tasks).set(task, change(hand)) };
}

type Coding = Extract<LoopEvent, { type: 'task.coding' }>['event'];

function coded(before: Hand, event: Coding): Hand {
  const hand = { ...before, isHeard: true, limited: undefined };
  switch (event.type) {
    case 'tool.started': {
      const { toolId: id, kind, title, paths } = event;
      const tool = { id, title, changes: CHANGING.has(kind) ? paths : [] };
      return { ...hand, tools: [...hand.tools.filter((one) => one.id !== id), tool].slice(-MAX_TOOLS) };
    }
    case 'tool.ended': {
      const ended = hand.tools.find(({ id }) => id === event.toolId);
      const tools = hand.tools.filter(({ id }) => id !== event.toolId);
      const file = event.isError ? undefined : ended?.changes.at(-1);
      return { ...hand, tools, changed: file ?? hand.changed };
    }
    case 'rate.limited':
      return { ...hand, limited: event.reason };
    case 'ended':
      return { ...hand, tools: [] };
    case 'usage':
      // It says nothing of what the agent does.
      return { ...hand, limited: before.limited };
    default:
      return hand;
  }
}

function gateOf(event: Extract<LoopEvent, { type: 'task.gate' }>['event']): SeenGate {
  if (event.type === 'gate.started') return { name: event.gate };
  const { gate: name, passed, why, tests } = event.receipt;
  return { name, passed, why, ...(tests === undefined ? {} : { tests: tests.passed + tests.failed }) };
}
