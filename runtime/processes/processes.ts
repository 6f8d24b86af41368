import { moduleInvalid, reasonOf } from '../protocol/errors.ts';
import type { Clock } from '../protocol/seams.ts';
import type { ProgressLimits } from '../supervision/progress-watch.ts';
import type { WatchdogLimits } from '../supervision/supervisor-options.ts';
import { AgentProcess, type ProcessEnd } from './agent-process.ts';
import type { Description } from '../agent/agent-description.ts';
import type { JournalledProcesses } from './journalled-processes.ts';
import type { ProcessOptions } from '../agent/process-options.ts';
import type { ProcessSpawner } from './process-spawner.ts';
import { ProcessWatch } from './process-watch.ts';

/** How long a process that was loaded to see what is in its module is kept for the agent. */
const KEPT_MS = 60_000;

/** Which agent's code a process runs, and how. */
export interface ProcessOrder {
  readonly module: string;
  readonly options: ProcessOptions;
}

export interface ProcessesDeps {
  readonly spawner: ProcessSpawner;
  readonly clock: Clock;
  /** Notes which processes there are. @default nobody does */
  readonly book?: JournalledProcesses;
  readonly watchdog: WatchdogLimits;
  readonly starting: ProgressLimits;
  /** Resolves when the event loop has taken in what has arrived by now. */
  readonly arrivals: () => Promise<void>;
}

/** The processes of the agents of one place. */
export class Processes {
  readonly #deps: ProcessesDeps;
  readonly #watch: ProcessWatch;
  readonly #all = new Set<AgentProcess>();
  /** Loaded, and nobody's yet. */
  readonly #kept = new Map<string, AgentProcess>();

  constructor(deps: ProcessesDeps) {
    this.#deps = deps;
    this.#watch = new ProcessWatch(deps);
  }

  /**
   * Loads a module in a process of its own and says what agent it holds; the first `take` of the same gets that process.
   * Fails with MODULE_INVALID, or INVALID_OPTIONS when this machine cannot run it so.
   */
  async load(order: ProcessOrder): Promise<Description> {
    await this.#deps.spawner.check(order.options);
    const process = this.#spawn(order);
    try {
      const description = await process.description;
      this.#keep(keyOf(order), process);
      return description;
    } catch (error) {
      process.end({ reason: 'its module cannot be loaded', isCharged: true });
      throw moduleInvalid(order.module, reasonOf(error), error);
    }
  }

  /** A process that has loaded the module, or is about to. */
  take(order: ProcessOrder): AgentProcess {
    const key = keyOf(order);
    const kept = this.#kept.get(key);
    this.#kept.delete(key);
    return kept === undefined || kept.isOver ? this.#spawn(order) : kept;
  }

  /** Nobody takes it soon. */
  dismiss(order: ProcessOrder): void {
    const key = keyOf(order);
    this.#kept.get(key)?.end(NOT_NEEDED);
    this.#kept.delete(key);
  }

  /** Ends all; resolves when they are gone. */
  async close(): Promise<void> {
    this.#watch.close();
    const all = [...this.#all];
    for (const process of all) process.end({ reason: 'the system is stopped', isCharged: false });
    await Promise.all(all.map(({ gone }) => gone));
  }

  #spawn({ module, options }: ProcessOrder): AgentProcess {
    const { spawner, clock, starting, book } = this.#deps;
    const process = new AgentProcess(module, options, {
      spawner,
      clock,
      starting,
      note: book && ((pid, gone) => book.note(pid, gone)),
    });
    this.#all.add(process);
    void process.gone.then(() => this.#all.delete(process));
    if (process.pid !== undefined) this.#watch.watch(process, options);
    return process;
  }

  #keep(key: string, process: AgentProcess): void {
    this.#kept.get(key)?.end(NOT_NEEDED);
    this.#kept.set(key, process);
    this.#deps.clock.setTimer(KEPT_MS, () => {
      if (this.#kept.get(key) !== process) return;
      this.#kept.delete(key);
      process.end(NOT_NEEDED);
    });
  }
}

const keyOf = ({ module, options }: ProcessOrder): string => JSON.stringify([module, options]);

const NOT_NEEDED: ProcessEnd = { reason: 'nobody needed it', isCharged: false };
