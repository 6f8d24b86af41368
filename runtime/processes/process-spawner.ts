import type { ProcessUsage } from '../os/proc-usage.ts';
import type { ProcessOptions } from '../agent/process-options.ts';

/** A process of an agent, as whoever started it sees it. */
export interface SpawnedProcess {
  /** Undefined when it could not be started. */
  readonly pid: number | undefined;
  /** Writes to it without waiting. */
  write(bytes: Uint8Array): void;
  /** Writes the answer that it stands still for. */
  answer(bytes: Uint8Array): void;
  /** Bytes written that it has not taken yet, and of those that were to answer it. */
  readonly backlogBytes: number;
  readonly unreadAnswerBytes: number;
  /** Everything that it writes, until it is gone. One listener. */
  onBytes(listener: (bytes: Buffer) => void): void;
  /** Takes nothing from it until `resume`: it stands still once the pipe is full. */
  pause(): void;
  resume(): void;
  /** What it uses now; undefined when that cannot be known. */
  usage(): Promise<ProcessUsage | undefined>;
  /** Ends it and whatever it has started, without its help. */
  kill(): void;
  /** Called once, when it is gone and every byte that it wrote has been given out. */
  onExit(listener: (reason: string) => void): void;
}

/** Starts processes for agents; the real one is `NodeProcessSpawner`. */
export interface ProcessSpawner {
  /** Rejects with INVALID_OPTIONS when this machine cannot start processes so. */
  check(options: ProcessOptions): Promise<void>;
  /** Starts a process that may do what the options say and read the code of `module`. */
  spawn(module: string, options: ProcessOptions): SpawnedProcess;
}
