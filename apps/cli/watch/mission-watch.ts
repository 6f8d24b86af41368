import {
  addedUp,
  advanceSpending,
  choiceWords,
  firstLine,
  type LoopEvent,
  NO_SPENDING,
  type Spending,
  type TaskStatus,
  usedBy,
} from '@orrery/ralph-loop';
import type { SystemEvent } from 'orrery';
import type { MissionBoard } from 'orrery/gateway';

type WatchedTask = MissionBoard['tasks'][number];
type WatchedGate = WatchedTask['gates'][number];
type TaskChanged = Extract<LoopEvent, { type: 'task.changed' }>;
type LimitNear = Extract<LoopEvent, { type: 'limit.near' }>;

/** The most gates of one task that are kept, and characters of a reason: feedback has the end of an output. */
const MAX_GATES = 32;
const MAX_REASON = 500;

/** What happens with a task, by the status that it gets; of the others nothing is told but the status. */
const STEPS: Partial<Record<TaskStatus, string>> = {
  working: 'task-started',
  judging: 'task-submitted',
  checking: 'task-submitted',
  accepted: 'task-accepted',
  nothing: 'task-accepted',
  failed: 'task-failed',
  exhausted: 'task-failed',
  escalated: 'task-failed',
  blocked: 'task-blocked',
  cancelled: 'task-blocked',
};

/** In these the attempt that they name is yet to begin. */
const NOT_BEGUN: ReadonlySet<TaskStatus> = new Set(['waiting', 'ready', 'resting']);

/** In these the gates of a change are run. */
const HAS_GATES: ReadonlySet<string> = new Set(['checking', 'merging']);

/** A mission as those see it who watch the system: its steps as events of the system, and its board. */
export class MissionWatch {
  #name: string | undefined;
  #gate = '';
  #pausedBy: string | undefined;
  #spending: Spending = NO_SPENDING;
  readonly #limits = new Map<LimitNear['what'], number>();
  readonly #tasks = new Map<string, WatchedTask>();
  readonly #note: (event: Omit<SystemEvent, 'timestamp'>) => void;

  constructor(note: (event: Omit<SystemEvent, 'timestamp'>) => void) {
    this.#note = note;
  }

  /** The board; undefined before the mission has begun. */
  get board(): MissionBoard | undefined {
    if (this.#name === undefined) return undefined;
    const budget = this.#budget();
    return {
      name: this.#name,
      ...(this.#pausedBy === undefined ? {} : { pausedBy: this.#pausedBy }),
      tasks: [...this.#tasks.values()],
      ...(budget && { budget }),
    };
  }

  hear(event: LoopEvent): void {
    if (event.type === 'mission.started') {
      this.#name = event.mission;
      this.#gate = event.gate;
      this.#tell({ step: 'mission-started', facts: { tasks: event.tasks.length } });
      for (const { id, title } of event.tasks) {
        this.#tasks.set(id, { id, title, state: 'waiting', attempts: 0, gates: [] });
        this.#tell({ step: 'task-changed', task: id, facts: { state: 'waiting', attempts: 0, title } });
      }
    }
    this.#spending = advanceSpending(this.#spending, event);
    if (event.type === 'task.changed') this.#changed(event);
    if (event.type === 'task.gate') this.#gated(event);
    if (event.type === 'task.coding') this.#coded(event);
    if (event.type === 'mission.paused') {
      this.#pausedBy = event.by;
      this.#tell({
        step: 'mission-paused',
        facts: { pausedBy: event.by },
        reason: `paused by ${event.by}`,
      });
    }
    if (event.type === 'mission.resumed') {
      this.#pausedBy = undefined;
      this.#tell({ step: 'mission-resumed', reason: `${event.by} wishes it` });
    }
    if (event.type === 'limit.near') this.#near(event);
    if (event.type === 'task.progress') {
      const { task, agent: agentId, fraction, note } = event;
      this.#tell({
        step: 'task-progress',
        task,
        agentId,
        fraction,
        ...(note !== undefined && { reason: note }),
      });
    }
    if (event.type === 'mission.ended') {
      this.#pausedBy = undefined;
      const success = [...this.#tasks.values()].every(
        ({ state }) => state === 'accepted' || state === 'nothing',
      );
      this.#tell({ step: 'mission-ended', success, reason: event.stopReason });
    }
  }

  #changed({ task: id, title, status, attempt, agent, why: because, choice }: TaskChanged): void {
    const why = choice === undefined ? because : choiceWords(choice);
    const before = this.#tasks.get(id);
    // What gates tell the next attempt has the end of their output.
    const told = before !== undefined && HAS_GATES.has(before.state) ? shortReason(why) : why;
    const reason = told === '' ? {} : { reason: told };
    const wasJudged = before?.state === 'judging' && status !== 'judging';
    const passed = status === 'accepted';
    if (wasJudged) this.#tell({ step: 'gate', task: id, gate: this.#gate, success: passed, ...reason });
    const judged = { name: this.#gate, passed, ...reason };
    const attempts = NOT_BEGUN.has(status) ? attempt - 1 : attempt;
    this.#tasks.set(id, {
      id,
      title,
      state: status,
      ...(agent === undefined ? {} : { agentId: agent }),
      attempts,
      gates: wasJudged ? withGate(before?.gates, judged) : (before?.gates ?? []),
    });
    const step = status === 'working' && attempt > 1 ? 'task-retried' : (STEPS[status] ?? 'task-changed');
    this.#tell({
      step,
      task: id,
      ...(agent === undefined ? {} : { agentId: agent }),
      facts: { state: status, attempts },
      ...reason,
    });
  }

  /** A gate of a change. It is told with the status of the task, which it does not change. */
  #gated({ task: id, event }: Extract<LoopEvent, { type: 'task.gate' }>): void {
    const task = this.#tasks.get(id);
    if (task === undefined) return;
    const { state } = task;
    if (event.type === 'gate.started') {
      this.#tell({
        step: 'task-changed',
        task: id,
        facts: { state },
        reason: `the gate ${event.gate} is run`,
      });
      return;
    }
    const { gate: name, passed, why, tests } = event.receipt;
    const reason = shortReason(why);
    this.#tasks.set(id, { ...task, gates: withGate(task.gates, { name, passed, reason }) });
    const counted = tests === undefined ? {} : { tests: tests.passed + tests.failed };
    this.#tell({ step: 'gate', task: id, gate: name, success: passed, reason, facts: { state, ...counted } });
  }

  /** What an agent has used, and that it waits. Its other steps are events of the system already. */
  #coded({ task, agent: agentId, event }: Extract<LoopEvent, { type: 'task.coding' }>): void {
    if (event.type === 'rate.limited') {
      const reason = `waits for its provider: ${shortReason(event.reason)}`;
      this.#tell({ step: 'task-changed', task, agentId, reason });
    }
    const spent = this.#spending.get(task);
    if (event.type !== 'usage' || spent === undefined) return;
    const used = usedBy(spent);
    const tokens = tokensOf(used);
    const { costUsd } = used;
    this.#tell({
      step: 'task-changed',
      task,
      agentId,
      facts: { ...(tokens === undefined ? {} : { tokens }), ...(costUsd === undefined ? {} : { costUsd }) },
    });
  }

  #near({ task, what, used, limit }: LimitNear): void {
    if (task === undefined) this.#limits.set(what, limit);
    const reason = `${task ?? 'the mission'} has used ${used} of ${limit} (${what})`;
    this.#tell({ step: 'limit-near', ...(task === undefined ? {} : { task }), reason });
  }

  /** What coding agents have used; undefined if nobody has told. */
  #budget(): MissionBoard['budget'] {
    const used = [...this.#spending.values()].map(usedBy).reduce(addedUp, {});
    const [tokens, { costUsd }] = [tokensOf(used), used];
    if (tokens === undefined && costUsd === undefined) return undefined;
    return {
      ...(tokens === undefined ? {} : { tokens: this.#spentOf('tokens', tokens) }),
      ...(costUsd === undefined ? {} : { costUsd: this.#spentOf('costUsd', costUsd) }),
    };
  }

  #spentOf(what: LimitNear['what'], spent: number) {
    const limit = this.#limits.get(what);
    return { spent, ...(limit === undefined ? {} : { limit }) };
  }

  #tell(step: Partial<SystemEvent>): void {
    this.#note({ type: 'mission', mission: this.#name ?? '', ...step });
  }
}

/** The gates with this one as the last. What it said before no longer counts. */
const withGate = (gates: readonly WatchedGate[] = [], gate: WatchedGate): readonly WatchedGate[] =>
  [...gates.filter(({ name }) => name !== gate.name), gate].slice(-MAX_GATES);

/** The first line of a reason, cut. */
const shortReason = (reason: string): string => firstLine(reason).slice(0, MAX_REASON);

type Used = ReturnType<typeof usedBy>;

const tokensOf = ({ inputTokens, outputTokens }: Used): number | undefined =>
  inputTokens === undefined && outputTokens === undefined
    ? undefined
    : (inputTokens ?? 0) + (outputTokens ?? 0);
