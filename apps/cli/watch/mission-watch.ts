import type { LoopEvent, TaskStatus } from '@orrery/ralph-loop';
import type { SystemEvent } from 'orrery';
import type { MissionBoard } from 'orrery/gateway';

type WatchedTask = MissionBoard['tasks'][number];
type TaskChanged = Extract<LoopEvent, { type: 'task.changed' }>;

/** What happens with a task, by the status that it gets; of the others nothing is told but the status. */
const STEPS: Partial<Record<TaskStatus, string>> = {
  working: 'task-started',
  judging: 'task-submitted',
  accepted: 'task-accepted',
  nothing: 'task-accepted',
  failed: 'task-failed',
  exhausted: 'task-failed',
  escalated: 'task-failed',
  blocked: 'task-blocked',
  cancelled: 'task-blocked',
};

/** In these the attempt that they name is yet to begin. */
const NOT_BEGUN: ReadonlySet<TaskStatus> = new Set(['waiting', 'ready']);

/** A mission as those see it who watch the system: its steps as events of the system, and its board. */
export class MissionWatch {
  #name: string | undefined;
  #gate = '';
  readonly #tasks = new Map<string, WatchedTask>();
  readonly #note: (event: Omit<SystemEvent, 'timestamp'>) => void;

  constructor(note: (event: Omit<SystemEvent, 'timestamp'>) => void) {
    this.#note = note;
  }

  /** The board; undefined before the mission has begun. */
  get board(): MissionBoard | undefined {
    return this.#name === undefined ? undefined : { name: this.#name, tasks: [...this.#tasks.values()] };
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
    if (event.type === 'task.changed') this.#changed(event);
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
      const success = [...this.#tasks.values()].every(
        ({ state }) => state === 'accepted' || state === 'nothing',
      );
      this.#tell({ step: 'mission-ended', success, reason: event.stopReason });
    }
  }

  #changed({ task: id, title, status, attempt, agent, why }: TaskChanged): void {
    const before = this.#tasks.get(id);
    const reason = why === '' ? {} : { reason: why };
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
      gates: wasJudged ? [...(before?.gates ?? []), judged] : (before?.gates ?? []),
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

  #tell(step: Partial<SystemEvent>): void {
    this.#note({ type: 'mission', mission: this.#name ?? '', ...step });
  }
}
