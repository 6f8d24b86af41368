import type { ThreadUsage } from '../os/proc-usage.ts';
import type { ProgressSample } from '../supervision/progress-watch.ts';
import type { Port } from './port.ts';

/** A thread as whoever started it sees it. */
export interface Spawned {
  /** Its number in this process. */
  readonly threadId: number;
  /** The one port between whoever started it and the thread. */
  readonly port: Port;
  /** Processor time that it has used, milliseconds; may never settle once it is gone. */
  cpuMs(): Promise<number>;
  /** What the system says of it, without asking it; undefined where the system does not say. */
  usage(): ThreadUsage | undefined;
  /** Ends it; resolves when it is gone. */
  terminate(): Promise<void>;
  /**
   * Called once, also where it is gone already, when every message that it posted has been delivered. `isItsWord`: what the
   * reason says, code in the thread has said.
   */
  onExit(listener: (reason: string, isItsWord?: boolean) => void): void;
}

/** Two connected ports. */
export type Channel = readonly [Port, Port];

/** Makes threads and the channels between them; the real one is worker_threads. */
export interface Spawner {
  /** Starts a thread that is given `boot`; `transfer` lists what in it stands for ports. */
  spawn(name: string, boot: unknown, transfer: readonly unknown[]): Spawned;
  channel(): Channel;
  /** Ends a process that a thread of ours had started, and whatever that has started. */
  endProcess(pid: number): void;
  /** What stands for a port in a message to another thread, to be listed among the transferred. */
  transferable(port: Port): unknown;
  /** The port that `value`, received in a message, is. */
  received(value: unknown): Port;
}

/** How far a thread has come, as can be seen from outside: a thread that gets no processor cannot answer. */
export async function footingOf(spawned: Spawned): Promise<Pick<ProgressSample, 'cpuMs' | 'isRunnable'>> {
  return spawned.usage() ?? { cpuMs: await spawned.cpuMs() };
}
