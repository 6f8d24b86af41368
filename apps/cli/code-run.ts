import { randomUUID } from 'node:crypto';
import {
  CodeWork,
  isDone,
  type LoopEvent,
  type MissionControl,
  type MissionOutcome,
  type MissionProgress,
  printable,
  type StopReason,
  syncMission,
} from '@orrery/ralph-loop';
import type { CommandDeps } from './command.ts';
import { SteeredRun } from './missions/steered-run.ts';
import type { RunPlan } from './run-plan.ts';

/** - `progress` of the run. - `tell` is told what gates do. */
export interface CodeRunOptions {
  readonly progress: MissionProgress | undefined;
  readonly tell: (event: LoopEvent) => void;
}

/** A run that changes a repository: the work on that, and what other terminals see and steer it by. */
export class CodeRun implements Disposable {
  readonly work: CodeWork;
  readonly #steered: SteeredRun | undefined;

  private constructor(work: CodeWork, steered: SteeredRun | undefined) {
    this.work = work;
    this.#steered = steered;
  }

  /** Undefined for a mission that changes nothing. Throws REFUSED where another process has it, and UsageError. */
  static async open(
    { mission, root, kept, journal }: RunPlan,
    { progress, tell }: CodeRunOptions,
    deps: CommandDeps,
  ): Promise<CodeRun | undefined> {
    const { clock } = deps;
    const { code } = mission;
    if (code === undefined) return undefined;
    const work = await CodeWork.open(
      { ...mission, code },
      {
        root,
        clock,
        runId: progress?.runId ?? randomUUID(),
        env: process.env,
        newMark: randomUUID,
        onGate: (task, event) => tell({ type: 'task.gate', task, event, atMs: clock.now() }),
      },
    );
    try {
      if (kept === undefined || journal === undefined) return new CodeRun(work, undefined);
      return new CodeRun(work, await SteeredRun.open({ mission: mission.name, journal, ...kept }, deps));
    } catch (error) {
      await work.close();
      throw error;
    }
  }

  hear(event: LoopEvent): void {
    this.#steered?.hear(event);
  }

  attach(control: MissionControl): void {
    this.#steered?.attach(control);
  }

  /** No merge is under way any more, and others may work on the mission. */
  async close(): Promise<void> {
    await this.work.close();
  }

  /** Keeps how it ended. `isSynced`: all that was accepted is marked in the list that the mission was read from. */
  end(
    stopReason: StopReason,
    { exitCode, isSynced }: { readonly exitCode: number; readonly isSynced: boolean },
  ): void {
    this.#steered?.end(stopReason, { exitCode, isSynced });
  }

  [Symbol.dispose](): void {
    this.#steered?.[Symbol.dispose]();
  }
}

/** What came of marking: a line for people, and what went wrong. */
export interface Synced {
  readonly isWhole: boolean;
  readonly text: string;
  readonly failure: string | undefined;
}

/** Marks what was accepted in the list that the mission was read from, if that is asked for. It never rejects. */
export async function synced({ isSynced, source }: RunPlan, { tasks }: MissionOutcome): Promise<Synced> {
  if (!isSynced) return { isWhole: false, text: '', failure: undefined };
  const idsOf = (all: MissionOutcome['tasks']) => all.map(({ context }) => context.item.taskId);
  const open = new Set(idsOf(tasks.filter(({ status }) => !isDone(status))));
  const done = idsOf(tasks).filter((task) => !open.has(task));
  try {
    const marks = Object.fromEntries(done.map((task) => [task, 'accepted']));
    const { written } = await syncMission(source, marks);
    const line = `Marked as done in ${source.file}: ${written.join(', ')}`;
    const isWhole = source.format !== 'orrery';
    return { isWhole, text: written.length === 0 ? '' : `${printable(line)}\n`, failure: undefined };
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    return {
      isWhole: false,
      text: '',
      failure: printable(`What was accepted could not be marked in ${source.file}: ${why}`),
    };
  }
}
