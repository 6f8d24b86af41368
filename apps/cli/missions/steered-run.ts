import { type LoopEvent, type MissionControl, printable, type StopReason } from '@orrery/ralph-loop';
import { noteOfThisProcess } from 'orrery/coding';
import type { CommandDeps } from '../command.ts';
import type { KeptOptions } from './kept-options.ts';
import { MissionOrders } from './mission-orders.ts';
import { ordersSocket } from './orders-place.ts';
import { runFolder } from './own-runs.ts';
import type { RunFolder } from './run-folder.ts';
import type { RunRecord } from './run-record.ts';

/**
 * A run that begins.
 *
 * - `root`    top level of the repository.
 * - `folder`  where its command was typed.
 * - `kept`    what was typed.
 * - `journal` in which its progress is kept.
 */
export interface BegunRun {
  readonly mission: string;
  readonly root: string;
  readonly folder: string;
  readonly kept: KeptOptions;
  readonly journal: string;
}

type SteeredDeps = Pick<CommandDeps, 'clock' | 'errors' | 'interruption'>;

/** A run of this process that is kept in its repository, so that it can be resumed, and steered from other terminals. */
export class SteeredRun implements Disposable {
  readonly #folder: RunFolder;
  readonly #record: RunRecord;
  readonly #orders: MissionOrders | undefined;
  readonly #deps: SteeredDeps;

  private constructor(
    run: {
      readonly folder: RunFolder;
      readonly record: RunRecord;
      readonly orders: MissionOrders | undefined;
    },
    deps: SteeredDeps,
  ) {
    this.#folder = run.folder;
    this.#record = run.record;
    this.#orders = run.orders;
    this.#deps = deps;
  }

  /**
   * Keeps that the run begins, and listens. It is called once no other process may carry out the mission. Throws UsageError where
   * it cannot be kept.
   */
  static async open(begun: BegunRun, deps: SteeredDeps): Promise<SteeredRun> {
    const { mission, root } = begun;
    const folder = runFolder(root, mission, process.env);
    folder.make();
    const record = recordOf(begun, deps.clock.now());
    folder.write(record);
    folder.sweep(record.journal);
    const opening = MissionOrders.open({
      mission,
      socket: ordersSocket(begun, process.env),
      stop: (by) => {
        deps.errors.write(`orrery: ${by} stops it from another terminal\n`);
        deps.interruption.interrupt();
      },
    });
    // The run is worth more than that it can be steered.
    const orders = await opening.catch((error: unknown) => {
      deps.errors.write(`orrery: ${printable((error as Error).message)}\n`);
      return undefined;
    });
    return new SteeredRun({ folder, record, orders }, deps);
  }

  hear(event: LoopEvent): void {
    this.#orders?.hear(event);
  }

  attach(control: MissionControl): void {
    this.#orders?.attach(control);
  }

  /** Keeps how the run ended. A failure is printed: what the run has done is done. */
  end(
    stopReason: StopReason,
    { exitCode, isSynced }: { readonly exitCode: number; readonly isSynced: boolean },
  ): void {
    const { clock, errors } = this.#deps;
    try {
      this.#folder.end(this.#record, {
        stopReason,
        exitCode,
        endedAtMs: clock.now(),
        ...(isSynced ? { isSynced } : {}),
      });
    } catch (error) {
      errors.write(`orrery: ${printable((error as Error).message)}\n`);
    }
  }

  [Symbol.dispose](): void {
    this.#orders?.[Symbol.dispose]();
  }
}

function recordOf({ mission, root, folder, kept, journal }: BegunRun, startedAtMs: number): RunRecord {
  const { file, options, leftOut } = kept;
  return {
    version: 1,
    mission,
    ...(file === undefined ? {} : { file }),
    root,
    folder,
    options,
    leftOut: [...leftOut],
    journal,
    process: noteOfThisProcess(),
    startedAtMs,
  };
}
