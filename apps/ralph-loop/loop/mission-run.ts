import { availableParallelism } from 'node:os';
import type { Clock } from 'orrery';
import type { CodingUsage } from 'orrery/coding';
import { type Actor, createActor, type SnapshotFrom } from 'xstate';
import type { Mission } from '../mission/mission.ts';
import type { MissionSkills } from '../skills/mission-skills.ts';
import type { Assignee } from './attempt.ts';
import { askAgent } from './ask-agent.ts';
import { askAssigner } from './ask-assigner.ts';
import { askGate } from './ask-gate.ts';
import { askRecovery } from './ask-recovery.ts';
import { checkChange, mergeChange, rest } from './check-change.ts';
import { lastChoice } from './choice.ts';
import { CodingBudget } from '../code/coding-budget.ts';
import { earlierResult } from './earlier-result.ts';
import { endSwarmsOfOthers, formSwarm } from './form-swarm.ts';
import { LimitedAgents } from './limited-agents.ts';
import type { LoopEvent, LoopNews } from './loop-event.ts';
import type { MissionOutcome } from './mission-outcome.ts';
import type { MissionProgress } from './mission-progress.ts';
import { proposeTask } from './propose-task.ts';
import { reviewChange } from './review-change.ts';
import type { RunScope } from './run-scope.ts';
import { rememberedEvents } from './remembered-events.ts';
import { cutOff, nextBatch, ready } from './schedule.ts';
import { type Cut, stopReasonOf } from './stop-reason.ts';
import { taskMachine } from './task.machine.ts';
import type { TaskContext, TaskEvent } from './task-context.ts';
import { attemptOf } from './task-moves.ts';
import { isDone, isGivenUp, isOver, isWork, type TaskStatus } from './task-status.ts';
import type { Team } from './team.ts';
import { watchCode } from './watch-code.ts';
import { type TaskView, whyItGoesOn } from './why-it-goes-on.ts';
import { type WorkItem, workItems } from './work-item.ts';

const DEFAULT_MAX_ATTEMPTS = 2;
const CUTS: Readonly<Record<Cut, string>> = {
  'time-limit': 'the time of the mission was over',
  'budget-limit': 'the mission had used what it may use',
  'no-progress': 'too many attempts in a row had come to nothing',
  interrupted: 'the mission was stopped',
};

/** Steers a mission that runs. `by` says whose wish it is. Each returns whether anything has changed by it. */
export interface MissionControl {
  /** No task is begun any more; those that are worked on go on. */
  readonly pause: (by: string) => boolean;
  readonly goOn: (by: string) => boolean;
  /** Ends a task, and its agent. What depends on it is blocked. */
  readonly skip: (task: string, by: string) => boolean;
  /** Lets a change be merged that is held until somebody approves it. */
  readonly approve: (task: string, by: string) => boolean;
}

/**
 * Options of `runMission`.
 *
 * - `root`     absolute path of the repository.
 * - `baseline` path of an earlier report, for agents that report on the mission.
 * - `signal`   stops the mission, which then ends as `interrupted`.
 * - `onEvent`  gets the events of the loop.
 * - `onControl` gets, once it runs, what it is steered by.
 */
export interface RunMissionOptions {
  readonly root: string;
  readonly baseline?: string;
  readonly signal?: AbortSignal;
  readonly onEvent?: (event: LoopEvent) => void;
  readonly onControl?: (control: MissionControl) => void;
}

/** What a mission runs on: a team, a clock, and where its progress is stored. */
export interface RunMissionDeps {
  readonly team: Team;
  readonly clock: Clock;
  /** Tasks at a time, if the mission does not say. @default the cores of the machine */
  readonly cores?: number;
  /** Stores accepted tasks. @default they are not stored */
  readonly progress?: MissionProgress;
  /** What earlier runs have left is recalled by these, and what this one learns is remembered. @default nothing is */
  readonly skills?: Pick<MissionSkills, 'recall' | 'learn'>;
  /** The work on the repository, for a mission with `code`. */
  readonly code?: NonNullable<RunScope['code']>;
}

/** The dependencies of a run, with the ids of assigner and gate from the roster. */
export interface MissionRunDeps extends RunMissionDeps {
  readonly assigner: string;
  readonly gate: string;
}

/**
 * A run of a mission: a machine for each task, and the round that moves them on until all are over.
 *
 * The machines run as actors of XState: a state invokes its requests, and leaving it aborts them. `MachineHost` of the
 * runtime invokes nothing, and its delays and storage are not needed here.
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
  readonly #spending: CodingBudget;
  #cut: Cut | undefined;
  #isAssigning = false;
  #isPaused = false;
  /** Ids of tasks for which a swarm is being formed. */
  readonly #isForming = new Set<string>();
  /** Attempts one after the other, of whichever tasks, that came to nothing. */
  #failuresInARow = 0;
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
    this.#spending = new CodingBudget(mission.limits, deps.progress?.spent);
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
      skills: deps.skills,
      code: deps.code,
      runId: deps.progress?.runId,
      spending: this.#spending,
      spend: (item, used) => this.#spend(item, used),
      limited: new LimitedAgents(),
      resultsOf: (ids) =>
        this.#views()
          .filter(({ context }) => ids.includes(context.item.id))
          .map(earlierResult),
      inHandOf: (agent) =>
        this.#views().filter(
          ({ status, context }) => isWork(status) && workerOf(status, context)?.agent === agent,
        ).length,
      tell: (news) => this.#tell(news),
    };
  }

  /** Runs the mission to its end. It may be called once. */
  async run(): Promise<MissionOutcome> {
    const { signal } = this.#options;
    const { timeoutMs } = this.#mission.limits;
    const { clock, assigner, gate } = this.#deps;
    let stopWatch = (): void => undefined;
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
      stopWatch = watchCode(this.#scope, this.#startedAtMs);
      endSwarmsOfOthers(this.#scope);
      this.#startTasks();
      this.#remember();
      this.#options.onControl?.(this.#control());
      if (signal?.aborted) interrupt();
      if (this.#spending.isOver) this.#end('budget-limit');
      this.#round();
      return await this.#outcome.promise;
    } finally {
      stopWatch();
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
        checkChange: checkChange(this.#scope),
        mergeChange: mergeChange(this.#scope),
        reviewChange: reviewChange(this.#scope),
        rest: rest(this.#scope),
      },
      actions: { release: ({ context }) => this.#release(context) },
    });
    for (const item of this.#items) {
      const maxAttempts =
        item.code?.limits.maxAttempts ?? this.#mission.limits.maxAttempts ?? DEFAULT_MAX_ATTEMPTS;
      const task = createActor(machine, { input: { item, maxAttempts } });
      this.#tasks.set(item.id, task);
      this.#statuses.set(item.id, 'waiting');
      let attempts = 0;
      task.subscribe((snapshot) => {
        const isAttemptOver = snapshot.context.attempts.length !== attempts;
        attempts = snapshot.context.attempts.length;
        if (isAttemptOver || snapshot.value !== this.#statuses.get(item.id)) this.#onChange(item, snapshot);
        if (isAttemptOver) this.#countFailures(snapshot.context);
      });
      task.start();
    }
  }

  /** Ends the mission where nothing gets on: whatever the tasks are, what is tried next would come to nothing, too. */
  #countFailures({ attempts }: TaskContext): void {
    const ended = attempts.at(-1)?.ended;
    if (ended === 'cancelled') return;
    this.#failuresInARow = ended === 'accepted' || ended === 'nothing' ? 0 : this.#failuresInARow + 1;
    const { maxFailuresInARow = Number.POSITIVE_INFINITY } = this.#mission.limits;
    if (this.#failuresInARow >= maxFailuresInARow) this.#end('no-progress');
  }

  /** Restores all tasks that an earlier run has accepted, and what it has left of others, before any is assigned. */
  #remember(): void {
    this.#isInRound = true;
    const { progress, code } = this.#deps;
    for (const [id, event] of rememberedEvents(this.#items, {
      accepted: progress?.accepted,
      left: code?.left,
    }))
      this.#send(id, event);
    this.#isInRound = false;
  }

  /** Handles a change of a task. An accepted one is stored before it is reported, and before others depend on it. */
  #onChange(item: WorkItem, snapshot: SnapshotFrom<typeof taskMachine>): void {
    const { progress } = this.#deps;
    if (!isDone(snapshot.value) || progress === undefined || progress.accepted.has(item.id))
      this.#moveOn(item, snapshot);
    else void this.#keep(progress, snapshot.context).then(() => this.#moveOn(item, snapshot));
  }

  #moveOn(item: WorkItem, { value, context }: SnapshotFrom<typeof taskMachine>): void {
    const wasProposed = this.#statuses.get(item.id) === 'proposed';
    this.#statuses.set(item.id, value);
    if (isOver(value)) this.#scope.skills?.learn({ status: value, context });
    if (isGivenUp(value) && item.code !== undefined)
      void this.#deps.code?.giveUp(item).catch(() => undefined);
    this.#tell({
      type: 'task.changed',
      task: item.id,
      title: item.title,
      status: value,
      attempt: isOver(value) ? (context.attempts.at(-1)?.number ?? 0) : attemptOf(context),
      agent: workerOf(value, context)?.agent ?? context.attempts.at(-1)?.agent,
      why: context.why,
      findings: isOver(value) ? context.findings : [],
      summary: isOver(value) ? context.result?.summary : undefined,
      choice:
        value === 'proposed' || (value === 'working' && wasProposed)
          ? lastChoice(context.choices)
          : undefined,
    });
    this.#round();
  }

  /** Stores an accepted task. It never rejects; a failure is reported as `progress.lost`. */
  async #keep(progress: MissionProgress, context: TaskContext): Promise<void> {
    const task = context.item.id;
    try {
      await progress.accept(task, context);
    } catch (error) {
      const why = error instanceof Error ? error.message : String(error);
      this.#tell({ type: 'progress.lost', task, why });
    }
  }

  /** Moves all tasks on that can move. Changes in between cause another iteration, not a nested call. */
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

  /** Assigns the next batch. There is one request at a time, so that the assigner sees the effect of its last answer. */
  #assignNext(): void {
    if (this.#isAssigning || this.#isPaused || this.#ended.signal.aborted) return;
    const batch = nextBatch(this.#items, this.#statuses, {
      maxParallel: this.#maxParallel,
      isTogether: (item) => item.isOfSwarm && this.#isNew(item),
      ...(this.#deps.code && { overlaps: this.#deps.code.overlaps }),
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

  /**
   * Splits a batch into items for swarms, by task, and items for single agents. Those include items that a swarm has failed
   * at.
   */
  #parted(batch: readonly WorkItem[]): [readonly WorkItem[][], WorkItem[]] {
    const open = batch.filter(({ taskId }) => !this.#isForming.has(taskId));
    const [swarmed, solo] = [true, false].map((isForSwarm) =>
      open.filter((item) => (item.isOfSwarm && this.#isNew(item)) === isForSwarm),
    ) as [WorkItem[], WorkItem[]];
    return [[...Map.groupBy(swarmed, ({ taskId }) => taskId).values()], solo];
  }

  /** Whether an item may go to a swarm, which is tried once. */
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
    const goesOn = whyItGoesOn(this.#views(), this.#deps);
    const why = this.#isPaused ? `it is paused; ${goesOn}` : goesOn;
    if (why !== this.#lastWhy) this.#tell({ type: 'loop.goes-on', why });
    this.#lastWhy = why;
  }

  #spend(item: WorkItem, used: { readonly agent: string; readonly usage: CodingUsage }): void {
    for (const near of this.#spending.used(item.id, used, item.code?.limits ?? {}))
      this.#tell({ type: 'limit.near', ...near });
    // One that is lost costs the cap a little of its sharpness after a kill, and no more.
    this.#deps.progress?.spend(item.id, this.#spending.ofTask(item.id)).catch(() => undefined);
    if (this.#spending.isOver) this.#end('budget-limit');
  }

  #control(): MissionControl {
    const { clock } = this.#deps;
    return {
      pause: (by) => this.#pause(true, by),
      goOn: (by) => this.#pause(false, by),
      skip: (task, by) =>
        this.#order(task, { type: 'task.skipped', why: `${by} skipped it`, atMs: clock.now() }),
      approve: (task, by) => this.#order(task, { type: 'change.approved', why: `${by} approved it` }),
    };
  }

  #pause(isPaused: boolean, by: string): boolean {
    if (this.#isPaused === isPaused || this.#ended.signal.aborted) return false;
    this.#isPaused = isPaused;
    this.#tell({ type: isPaused ? 'mission.paused' : 'mission.resumed', by });
    this.#round();
    return true;
  }

  /** Whether a task has taken an order: in other statuses it means nothing to it. */
  #order(id: string, event: TaskEvent): boolean {
    const task = this.#tasks.get(id);
    if (task?.getSnapshot().can(event) !== true) return false;
    task.send(event);
    return true;
  }

  #end(cut: Cut): void {
    if (this.#ended.signal.aborted) return;
    this.#cut = cut;
    const why = CUTS[cut];
    const wasInRound = this.#isInRound;
    // All in one round: a task must be cancelled before a cancelled dependency blocks it.
    this.#isInRound = true;
    for (const { id } of this.#items)
      this.#send(id, { type: 'mission.ended', why, atMs: this.#deps.clock.now() });
    this.#isInRound = wasInRound;
    this.#round();
  }

  #finish(): void {
    const { clock, assigner, gate, code } = this.#deps;
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
      ...(code && { code: { branch: code.branch.name, base: code.branch.base } }),
    });
  }

  /** Releases the proposal of a task, because its agent has no more to do for it. */
  #release({ proposalId }: TaskContext): void {
    if (proposalId === undefined) return;
    // A failure of the message does not matter to the mission.
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

  /** Sends an event to a task, unless that is over. */
  #send(id: string, event: TaskEvent): void {
    const task = this.#tasks.get(id);
    if (task?.getSnapshot().status === 'active') task.send(event);
  }

  #tell(news: LoopNews): void {
    this.#options.onEvent?.({ ...news, atMs: this.#deps.clock.now() });
  }
}

/** The agent that has a task, or is asked whether it takes it on. */
const workerOf = (status: TaskStatus, { proposedTo, assignee }: TaskContext): Assignee | undefined =>
  status === 'proposed' ? proposedTo : assignee;
