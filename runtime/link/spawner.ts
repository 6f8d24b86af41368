import type { ThreadUsage } from '../os/proc-usage.ts';
import type { ProgressSample } from '../supervision/progress-watch.ts';
import type { Port } from './port.ts';

/** A thread as its starter sees it. */
export interface Spawned {
  /** Its number in this process. */
  readonly threadId: number;
  /** The only port between the thread and its starter. */
  readonly port: Port;
  /** Processor time that it has used, in milliseconds. The promise may never settle once the thread is gone. */
  cpuMs(): Promise<number>;
  /** What the operating system says of the thread, without asking it; undefined where it does not say. */
  usage(): ThreadUsage | undefined;
  /** Ends it; resolves when it is gone. */
  terminate(): Promise<void>;
  /**
   * Calls `listener` once, when the thread is gone and every message that it posted has been delivered. `isItsWord`: the text
   * of the reason comes from code in the thread.
   */
  onExit(listener: (reason: string, isItsWord?: boolean) => void): void;
}

/** Two connected ports. */
export type Channel = readonly [Port, Port];

/** Makes threads and channels between them, with `worker_threads` or in a simulation. */
export interface Spawner {
  /** Starts a thread with `boot` as its data; `transfer` lists what in it stands for ports. */
  spawn(name: string, boot: unknown, transfer: readonly unknown[]): Spawned;
  channel(): Channel;
  /** Ends a process that one of these threads had started, with all processes that it started itself. */
  endProcess(pid: number): void;
  /** What stands for a port in a message to another thread; it has to be in `transfer`. */
  transferable(port: Port): unknown;
  /** The port for a `value` that was received in a message. */
  received(value: unknown): Port;
}

/** How far a thread has come, as seen from outside: a thread that gets no processor cannot answer. */
export async function footingOf(spawned: Spawned): Promise<Pick<ProgressSample, 'cpuMs' | 'isRunnable'>> {
  return spawned.usage() ?? { cpuMs: await spawned.cpuMs() };
}
