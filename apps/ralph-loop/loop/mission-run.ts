import { availableParallelism } from 'node:os';
import type { Clock } from 'orrery';
import { type Actor, createActor, type SnapshotFrom } from 'xstate';
import type { Mission } from '../mission/mission.ts';
import { askAgent } from './ask-agent.ts';
import { askAssigner } from './ask-assigner.ts';
import { askGate } from './ask-gate.ts';
import { askRecovery } from './ask-recovery.ts';
import { earlierResult } from './earlier-result.ts';
import { endSwarmsOfOthers, formSwarm } from './form-swarm.ts';
import type { LoopEvent, LoopNews } from './loop-event.ts';
import type { MissionOutcome } from './mission-outcome.ts';
import type { MissionProgress } from './mission-progress.ts';
import { proposeTask } from './propose-task.ts';
import type { RunScope } from './run-scope.ts';
import { cutOff, nextBatch, ready } from './schedule.ts';
import { type Cut, stopReasonOf } from './stop-reason.ts';
import { taskMachine } from './task.machine.ts';
import type { TaskContext, TaskEvent } from './task-context.ts';
import { isDone, isOver, type TaskStatus } from './task-status.ts';
import type { Team } from './team.ts';
import { type TaskView, whyItGoesOn } from './why-it-goes-on.ts';
import { type WorkItem, workItems } from './work-item.ts';

const DEFAULT_MAX_ATTEMPTS = 2;

/**
 * - `root`     the repository, absolute.
 * - `baseline` the path of a former report, for agents that are told what other tasks came to.
 * - `signal`   stops the mission; it then ends as `interrupted`.
 * - `onEvent`  hears what happens and why the loop goes on.
 */
export interface RunMissionOptions {
  readonly root: string;
  readonly baseline?: string;
  readonly signal?: AbortSignal;
  readonly onEvent?: (event: LoopEvent) => void;
}

export interface RunMissionDeps {
  readonly team: Team;
  readonly clock: Clock;
  /** How many tasks may be worked on at a time where the mission does not say. @default the cores of the machine */
  readonly cores?: number;
  /** Where it is kept what was accepted. @default nowhere */
  readonly progress?: MissionProgress;
}

/** What the run has looked up in the roster beside what it was given. */
export interface MissionRunDeps extends RunMissionDeps {
  readonly assigner: string;
  readonly gate: string;
}

/**
 * One run of a mission: a machine for each task, and the round that moves them on until all are over.
 *
 * XState's own actors run the machines. A state invokes what it asks of others, and leaving it aborts that. The runtime's
 * `MachineHost` invokes nothing: on it this file would begin and abort each request by hand, and `orrery` would have to
 * export it. What the host gives beyond that is not needed here: a task has no delays, and `MissionProgress` keeps what is
 * accepted.
 */
export class MissionRun {
  readonly #mission: Mission;
  readonly #options: RunMissionOptions;
  readonly #deps: MissionRunDeps;
  readonly #scope: RunScope;
  readonly #items: readonly WorkItem[];
  readonly #tasks = new Map<string, Actor<typeof taskMachine>>();
  readonly #statuses = new Map<string, TaskStatus>();
  readonly #maxParallel: number;
  readonly #startedAtMs: number;
  readonly #ended = new AbortController();
  readonly #outcome = Promise.withResolvers<MissionOutcome>();
  #cut: Cut | undefined;
  #isAssigning = false;
  /** Tasks for which a swarm is being formed. */
  readonly #isForming = new Set<string>();
  #isInRound = false;
  #hasChanged = false;
  #lastWhy = '';
  constructor(mission: Mission, options: RunMissionOptions, deps: MissionRunDeps) {
    const { clock, team, assigner, gate } = deps;
    const { timeoutMs } = mission.limits;
    this.#mission = mission;
    this.#options = options;
    this.#deps = deps;
    this.#items = workItems(mission);
    this.#maxParallel = mission.limits.maxParallel ?? deps.cores ?? availableParallelism();
    this.#startedAtMs = clock.now();
    this.#scope = {
      mission: mission.name,
      root: options.root,
      baseline: options.baseline,
      team,
      clock,
      deadlineAtMs: timeoutMs === undefined ? undefined : this.#startedAtMs + timeoutMs,
      signal: this.#ended.signal,
      assigner,
      gate,
      runId: deps.progress?.runId,
      resultsOf: (ids) =>
        this.#views()
          .filter(({ context }) => ids.includes(context.item.id))
          .map(earlierResult),
      tell: (news) => this.#tell(news),
    };
  }

  /** Runs to the end; call it once. */
  async run(): Promise<MissionOutcome> {
    const { signal } = this.#options;
    const { timeoutMs } = this.#mission.limits;
    const { clock, assigner, gate } = this.#deps;
    const interrupt = () => this.#end('interrupted');
    const cancelTimer =
      timeoutMs === undefined ? undefined : clock.setTimer(timeoutMs, () => this.#end('time-limit'));
    signal?.addEventListener('abort', interrupt, { once: true });
    try {
      const tasks = this.#items.map(({ id, title, estimateMs }) => ({ id, title, estimateMs }));
      const maxParallel = this.#maxParallel;
      this.#tell({
        type: 'mission.started',
        mission: this.#mission.name,
        tasks,
        maxParallel,
        assigner,
        gate,
      });
      endSwarmsOfOthers(this.#scope);
      this.#startTasks();
      this.#remember();
      if (signal?.aborted) interrupt();
      this.#round();
      return await this.#outcome.promise;
    } finally {
      cancelTimer?.();
      signal?.removeEventListener('abort', interrupt);
      this.#ended.abort();
    }
  }

  #startTasks(): void {
    const machine = taskMachine.provide({
      actors: {
        propose: proposeTask(this.#scope),
        askAgent: askAgent(this.#scope),
        askGate: askGate(this.#scope),
        askRecovery: askRecovery(this.#scope),
      },
      actions: { release: ({ context }) => this.#release(context) },
    });
    const maxAttempts = this.#mission.limits.maxAttempts ?? DEFAULT_MAX_ATTEMPTS;
    for (const item of this.#items) {
      const task = createActor(machine, { input: { item, maxAttempts } });
      this.#tasks.set(item.id, task);
      this.#statuses.set(item.id, 'waiting');
      let attempts = 0;
      task.subscribe((snapshot) => {
        const isNews =
          snapshot.value !== this.#statuses.get(item.id) || snapshot.context.attempts.length !== attempts;
        attempts = snapshot.context.attempts.length;
        if (isNews) this.#onChange(item, snapshot);
      });
      task.start();
    }
  }

  /** What a run before had accepted; all of it, before anything is given out. */
  #remember(): void {
    this.#isInRound = true;
    for (const [id, context] of this.#deps.progress?.accepted ?? [])
      this.#send(id, { type: 'work.remembered', context });
    this.#isInRound = false;
  }

  /** What is accepted is told, and built upon, when a run after this one would know of it. */
  #onChange(item: WorkItem, snapshot: SnapshotFrom<typeof taskMachine>): void {
    const { progress } = this.#deps;
    if (!isDone(snapshot.value) || progress === undefined || progress.accepted.has(item.id))
      this.#moveOn(item, snapshot);
    else void this.#keep(progress, snapshot.context).then(() => this.#moveOn(item, snapshot));
  }

  #moveOn(item: WorkItem, { value, context }: SnapshotFrom<typeof taskMachine>): void {
    this.#statuses.set(item.id, value);
    this.#tell({
      type: 'task.changed',
      task: item.id,
      title: item.title,
      status: value,
      attempt: context.attempts.length + (isOver(value) ? 0 : 1),
      agent:
        (value === 'proposed' ? context.proposedTo : context.assignee)?.agent ??
        context.attempts.at(-1)?.agent,
      why: context.why,
      findings: isOver(value) ? context.findings : [],
      summary: isOver(value) ? context.result?.summary : undefined,
    });
    this.#round();
  }

  /** Never rejects: the mission goes on, whatever becomes of that. */
  async #keep(progress: MissionProgress, context: TaskContext): Promise<void> {
    const task = context.item.id;
    try {
      await progress.accept(task, context);
    } catch (error) {
      const why = error instanceof Error ? error.message : String(error);
      this.#tell({ type: 'progress.lost', task, why });
    }
  }

  /** Moves on whatever can move. What changes meanwhile starts another turn instead of a nested one. */
  #round(): void {
    this.#hasChanged = true;
    if (this.#isInRound) return;
    this.#isInRound = true;
    while (this.#hasChanged) {
      this.#hasChanged = false;
      this.#settleDependents();
      this.#assignNext();
    }
    this.#isInRound = false;
    this.#sayWhyOrFinish();
  }

  #settleDependents(): void {
    for (const { item, lost } of cutOff(this.#items, this.#statuses)) {
      const why = `${lost}, which it depends on, came to ${this.#statuses.get(lost)}`;
      this.#send(item.id, { type: 'dependency.lost', why });
    }
    for (const item of ready(this.#items, this.#statuses)) {
      const { dependsOn, after } = item;
      const before = [
        ...(dependsOn.length === 0 ? [] : [`${dependsOn.join(', ')} accepted`]),
        ...(after.length === 0 ? [] : [`${after.join(', ')} over`]),
      ];
      const why = before.length === 0 ? 'nothing stands before it' : before.join('; ');
      this.#send(item.id, { type: 'dependencies.accepted', why });
    }
  }

  /** The assigner is asked about one batch at a time, so that it sees what its last answer led to. */
  #assignNext(): void {
    if (this.#isAssigning || this.#ended.signal.aborted) return;
    const batch = nextBatch(this.#items, this.#statuses, {
      maxParallel: this.#maxParallel,
      isTogether: (item) => item.isOfSwarm && this.#isNew(item),
    });
    const [swarmed, solo] = this.#parted(batch);
    for (const items of swarmed) this.#handToSwarm(items);
    if (solo.length === 0) return;
    this.#isAssigning = true;
    const unassigned = solo.map((item) => ({ item, declined: this.#contextOf(item).declined }));
    void askAssigner(this.#scope, unassigned).then((assignments) => {
      for (const [id, event] of assignments) this.#send(id, event);
      this.#isAssigning = false;
      this.#round();
    });
  }

  /** What a swarm is to have, by tasks, and what is given to single agents: that is also what a swarm did not manage. */
  #parted(batch: readonly WorkItem[]): [readonly WorkItem[][], WorkItem[]] {
    const open = batch.filter(({ taskId }) => !this.#isForming.has(taskId));
    const [swarmed, solo] = [true, false].map((isForSwarm) =>
      open.filter((item) => (item.isOfSwarm && this.#isNew(item)) === isForSwarm),
    ) as [WorkItem[], WorkItem[]];
    return [[...Map.groupBy(swarmed, ({ taskId }) => taskId).values()], solo];
  }

  /** A swarm is tried once. */
  #isNew(item: WorkItem): boolean {
    const { swarm, isRecovered } = this.#contextOf(item);
    return swarm === undefined && !isRecovered;
  }

  #handToSwarm(items: readonly WorkItem[]): void {
    const taskId = items[0]?.taskId ?? '';
    this.#isForming.add(taskId);
    void formSwarm(this.#scope, items).then((event) => {
      for (const { id } of items) this.#send(id, event);
      this.#isForming.delete(taskId);
      this.#round();
    });
  }

  #sayWhyOrFinish(): void {
    if (this.#ended.signal.aborted) return;
    if ([...this.#statuses.values()].every(isOver)) this.#finish();
    else this.#sayWhy();
  }

  #sayWhy(): void {
    const why = whyItGoesOn(this.#views(), this.#deps);
    if (why !== this.#lastWhy) this.#tell({ type: 'loop.goes-on', why });
    this.#lastWhy = why;
  }

  #end(cut: Cut): void {
    if (this.#ended.signal.aborted) return;
    this.#cut = cut;
    const why = cut === 'time-limit' ? 'the time of the mission was over' : 'the mission was stopped';
    const wasInRound = this.#isInRound;
    // As one turn of the round: nothing may be blocked by a cancelled dependency before it is cancelled
    // itself.
    this.#isInRound = true;
    for (const { id } of this.#items)
      this.#send(id, { type: 'mission.ended', why, atMs: this.#deps.clock.now() });
    this.#isInRound = wasInRound;
    this.#round();
  }

  #finish(): void {
    const { clock, assigner, gate } = this.#deps;
    this.#ended.abort();
    const stopReason = stopReasonOf([...this.#statuses.values()], this.#cut);
    this.#tell({ type: 'mission.ended', stopReason });
    this.#outcome.resolve({
      mission: this.#mission,
      root: this.#options.root,
      stopReason,
      startedAtMs: this.#startedAtMs,
      endedAtMs: clock.now(),
      assigner,
      gate,
      tasks: this.#views(),
    });
  }

  /** Whoever took the task on has done with it, in whatever way. */
  #release({ proposalId }: TaskContext): void {
    if (proposalId === undefined) return;
    // The mission goes on, or is over, whatever becomes of the message.
    this.#deps.team.loop.negotiator.release(proposalId).catch(() => undefined);
  }

  #contextOf({ id }: WorkItem): TaskContext {
    return (this.#tasks.get(id) as Actor<typeof taskMachine>).getSnapshot().context;
  }

  #views(): TaskView[] {
    return [...this.#tasks].map(([id, task]) => ({
      status: this.#statuses.get(id) ?? 'waiting',
      context: task.getSnapshot().context,
    }));
  }

  /** What comes too late for a task that is over is not said to it, also not while that is being kept. */
  #send(id: string, event: TaskEvent): void {
    const task = this.#tasks.get(id);
    if (task?.getSnapshot().status === 'active') task.send(event);
  }

  #tell(news: LoopNews): void {
    this.#options.onEvent?.({ ...news, atMs: this.#deps.clock.now() });
  }
}
