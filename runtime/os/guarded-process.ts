import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { Readable, Writable } from 'node:stream';
import { reasonOf } from '../protocol/errors.ts';
import type { Clock } from '../protocol/seams.ts';
import { FamilyWatcher } from './family-watcher.ts';
import { endFamily, MARK } from './process-family.ts';

/** How long its last output may take to be read once its family is gone, milliseconds. */
const LEFTOVER_MS = 5_000;
/** How long it is from one look for its family to the next, milliseconds. */
const LOOK_MS = 10;
/** How often nobody has to be found: what is being started may have no environment yet. */
const QUIET_LOOKS = 2;
/** Looks for a family that was killed: the kernel has to give back its memory. */
const MOST_LOOKS = 500;

/**
 * A program to be run.
 *
 * - `env`  all of its environment, but for the mark.
 * - `mark` by which its family is known. No other process has it.
 */
export interface GuardedOrder {
  readonly command: string;
  readonly args: readonly string[];
  readonly cwd: string | undefined;
  readonly env: Readonly<Record<string, string>>;
  readonly mark: string;
}

/** How a process ended. `failure`: it could not be started, for this reason. */
export interface ProcessEnd {
  readonly code: number | null;
  readonly signal: string | null;
  readonly failure?: string;
}

/**
 * A program in a process group of its own, with whatever it starts: its family. Nobody of the family outlives it, or this
 * process, also not those who have left the group and their parents: they are known by the mark in their environment.
 * Where there is no `/proc`, the group alone is ended.
 *
 * Whoever starts it has to read `output` and `log`; what is not read makes it wait.
 */
export class GuardedProcess {
  readonly pid: number | undefined;
  readonly mark: string;
  readonly input: Writable;
  readonly output: Readable;
  readonly log: Readable;
  /** Resolves when its family is gone and its output is read; `LEFTOVER_MS` later in any case. It never rejects. */
  readonly ended: Promise<ProcessEnd>;
  readonly #clock: Pick<Clock, 'setTimer'>;
  readonly #child: ChildProcess | undefined;
  readonly #watcher: FamilyWatcher | undefined;
  #isOver = false;

  constructor(order: GuardedOrder, clock: Pick<Clock, 'setTimer'>) {
    this.mark = order.mark;
    this.#clock = clock;
    // Before the program: this process may be killed at any moment.
    this.#watcher = hasGroups ? new FamilyWatcher(order.mark) : undefined;
    const started =
      this.#watcher?.isThere === false
        ? { failure: 'its watcher, /bin/sh, could not be started' }
        : startOf(order);
    this.#child = started.child;
    this.pid = started.child?.pid;
    this.input = started.child?.stdin ?? new Writable({ write: (_chunk, _encoding, done) => done() });
    this.output = started.child?.stdout ?? Readable.from([]);
    this.log = started.child?.stderr ?? Readable.from([]);
    // It may end while it is written to.
    for (const stream of [this.input, this.output, this.log]) stream.on('error', () => undefined);
    if (this.pid !== undefined) this.#watcher?.watch(this.pid);
    this.ended = this.#endOf(started).then((end) => this.#over(end));
  }

  /** Ends it by SIGTERM to its group and, after `graceMs`, by `kill`. */
  async stop(graceMs: number): Promise<ProcessEnd> {
    if (!this.#isOver) this.#signal('SIGTERM');
    const cancel = this.#clock.setTimer(graceMs, () => this.kill());
    const end = await this.ended;
    cancel();
    return end;
  }

  /** Kills it and its family at once. */
  kill(): void {
    if (this.#isOver || this.pid === undefined) return;
    this.#signal('SIGKILL');
    endFamily(this.pid, this.mark);
  }

  async #endOf({ child, failure }: Started): Promise<ProcessEnd> {
    if (child === undefined || child.pid === undefined) {
      const error =
        child === undefined ? failure : await new Promise((resolve) => child.once('error', resolve));
      return { code: null, signal: null, failure: whyNotStarted(error) };
    }
    const [code, signal] = await new Promise<[number | null, string | null]>((resolve) => {
      child.once('exit', (...how) => resolve(how));
    });
    await this.#endOfFamily(child.pid);
    await Promise.all([this.#readOut(this.output), this.#readOut(this.log)]);
    return { code, signal };
  }

  /** Kills whoever is left, until nobody is. */
  async #endOfFamily(head: number): Promise<void> {
    this.#signal('SIGKILL');
    let quiet = 0;
    for (let look = 0; look < MOST_LOOKS && quiet < QUIET_LOOKS; look++) {
      if (look > 0) await new Promise<void>((resolve) => this.#clock.setTimer(LOOK_MS, resolve));
      quiet = endFamily(head, this.mark) === 0 ? quiet + 1 : 0;
    }
  }

  #readOut(stream: Readable): Promise<void> {
    return new Promise((resolve) => {
      if (stream.closed) return resolve();
      const cancel = this.#clock.setTimer(LEFTOVER_MS, resolve);
      stream.once('close', () => {
        cancel();
        resolve();
      });
    });
  }

  #over(end: ProcessEnd): ProcessEnd {
    this.#isOver = true;
    this.#watcher?.end();
    for (const stream of [this.input, this.output, this.log]) stream.destroy();
    return end;
  }

  #signal(signal: NodeJS.Signals): void {
    if (this.pid === undefined) return;
    try {
      if (hasGroups) process.kill(-this.pid, signal);
      else this.#child?.kill(signal);
    } catch {
      // It has ended meanwhile.
    }
  }
}

const hasGroups = process.platform !== 'win32';

/** The folder is looked for before: where something is not there, it is the program. */
const whyNotStarted = (error: unknown): string =>
  (error as NodeJS.ErrnoException).code === 'ENOENT'
    ? 'it is not installed, or not on the PATH'
    : reasonOf(error);

interface Started {
  readonly child?: ChildProcess;
  readonly failure?: unknown;
}

function startOf({ command, args, cwd, env, mark }: GuardedOrder): Started {
  if (cwd !== undefined && !existsSync(cwd)) return { failure: `there is no folder ${cwd}` };
  try {
    const child = spawn(command, [...args], {
      env: { ...env, [MARK]: mark },
      ...(cwd === undefined ? {} : { cwd }),
      stdio: ['pipe', 'pipe', 'pipe'],
      // Ctrl+C in a terminal must not reach it.
      detached: hasGroups,
      windowsHide: true,
    });
    child.on('error', () => undefined);
    return { child };
  } catch (failure) {
    return { failure }; // Arguments that are too long, or that no program can be given.
  }
}
