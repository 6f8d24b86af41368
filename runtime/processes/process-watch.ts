import type { Clock } from '../protocol/seams.ts';
import { type BeatSample, Watchdog } from '../supervision/watchdog.ts';
import type { WatchdogLimits } from '../supervision/supervisor-options.ts';
import type { AgentProcess } from './agent-process.ts';
import type { ProcessOptions } from '../agent/process-options.ts';

const MIB = 1_048_576;

export interface ProcessWatchDeps {
  readonly clock: Clock;
  readonly watchdog: WatchdogLimits;
  /** Resolves when the event loop has taken in what has arrived by now. */
  readonly arrivals: () => Promise<void>;
}

interface Watched {
  readonly process: AgentProcess;
  readonly residentBytes: number;
  /** Signs of life: answers of the process, and times when it had not computed at all. */
  signs: number;
  cpuMs: number;
}

/**
 * Ends processes that loop, by the rules for threads, and such as have more memory than they may.
 *
 * A process is asked for a sign of life only when it has computed since it was last looked at: one that does not compute
 * does not loop, and is left to sleep.
 */
export class ProcessWatch {
  readonly #deps: ProcessWatchDeps;
  readonly #watchdog: Watchdog;
  readonly #watched = new Map<string, Watched>();

  constructor(deps: ProcessWatchDeps) {
    this.#deps = deps;
    const { clock, watchdog } = deps;
    this.#watchdog = new Watchdog(
      {
        seams: { clock },
        sample: (key) => this.#sample(key),
        onLoop: (key, { stalledMs }) => {
          const reason = `an endless loop (${Math.round(stalledMs)} ms without a sign of life)`;
          this.#end(this.#watched.get(key)?.process, reason);
        },
        onStarved: (key, { stalledMs }) => {
          const finding = `no sign of life for ${Math.round(stalledMs)} ms, and no processor time`;
          this.#watched.get(key)?.process.found(finding);
        },
      },
      watchdog,
    );
  }

  /** Watches a process until it is gone. */
  watch(process: AgentProcess, { residentMb }: ProcessOptions): void {
    const key = String(process.pid);
    this.#watched.set(key, { process, residentBytes: residentMb * MIB, signs: 0, cpuMs: 0 });
    this.#watchdog.watch(key);
    void process.gone.then(() => {
      if (this.#watched.get(key)?.process !== process) return;
      this.#watchdog.unwatch(key);
      this.#watched.delete(key);
    });
  }

  close(): void {
    this.#watchdog.close();
    this.#watched.clear();
  }

  async #sample(key: string): Promise<BeatSample> {
    // A sign of life that lies in a pipe because this thread was busy is one, too.
    await this.#deps.arrivals();
    const watched = this.#watched.get(key);
    const usage = await watched?.process.usage();
    if (watched === undefined || usage === undefined) throw new Error(`nothing is known of process ${key}`);
    this.#chargeMemory(watched, usage.residentBytes);
    const { beat } = watched.process;
    if (usage.cpuMs === watched.cpuMs) watched.signs += 1;
    else if (beat > 0) watched.process.ping();
    watched.cpuMs = usage.cpuMs;
    return {
      atMs: this.#deps.clock.monotonicMs(),
      beat: beat === 0 ? 0 : beat + watched.signs,
      cpuMs: usage.cpuMs,
    };
  }

  #chargeMemory({ process, residentBytes }: Watched, usedBytes: number): void {
    if (usedBytes <= residentBytes) return;
    const [used, most] = [usedBytes, residentBytes].map((bytes) => Math.round(bytes / MIB));
    this.#end(process, `its process used ${used} MB of memory, and may use ${most}`);
  }

  #end(process: AgentProcess | undefined, reason: string): void {
    process?.found(reason);
    process?.end({ reason, isCharged: true });
  }
}
