import { type ChildProcess, spawn } from 'node:child_process';
import type { Readable, Writable } from 'node:stream';
import { getDefaultEnvironment } from '@modelcontextprotocol/client/stdio';
import { reasonOf } from '../../../runtime/protocol/errors.ts';
import type { Clock } from '../../../runtime/protocol/seams.ts';

/**
 * What a shell does before it becomes the server: it leaves a watcher behind, in the server's process group, that waits for the
 * end of descriptor 3. Only this process has the other end, so it comes when this process is gone, however it went; then the
 * watcher kills the group, itself included. It holds none of the server's pipes.
 */
const WATCHED =
  '(trap "" TERM HUP INT; exec 0</dev/null >/dev/null 2>&1; read -r _ <&3; kill -9 0) & exec 3<&-; exec "$@"';
const LIFELINE = 3;
const MAX_WORDS = 2_048;
/** How long what it wrote last may take to arrive when it is gone. */
const LEFTOVER_MS = 500;

export interface ChildOrder {
  readonly command: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  readonly cwd: string | undefined;
}

/**
 * The process of a server, at the head of a process group of its own. It does not outlive this one, whatever it does about
 * signals and the end of its input, as long as it stays in its group.
 */
export class GuardedChild {
  readonly pid: number | undefined;
  /** Resolves to how it ended, when it has; its group has then, too. */
  readonly ended: Promise<string>;
  readonly input: Writable;
  readonly output: Readable;
  readonly log: Readable;
  readonly #child: ChildProcess;
  readonly #clock: Pick<Clock, 'setTimer'>;
  #isOver = false;
  #lastWords = '';

  constructor({ command, args, env, cwd }: ChildOrder, clock: Pick<Clock, 'setTimer'>) {
    this.#clock = clock;
    const isGuarded = process.platform !== 'win32';
    const [file, given] = isGuarded
      ? ['/bin/sh', ['-c', WATCHED, 'sh', command, ...args]]
      : [command, [...args]];
    const child = spawn(file, given, {
      env: { ...getDefaultEnvironment(), ...env },
      ...(cwd === undefined ? {} : { cwd }),
      stdio: ['pipe', 'pipe', 'pipe', 'pipe'],
      // What a terminal signals to this process's group is not for it.
      detached: isGuarded,
      windowsHide: true,
    });
    this.#child = child;
    this.pid = child.pid;
    this.input = child.stdin as Writable;
    this.output = child.stdout as Readable;
    this.log = child.stderr as Readable;
    for (const stream of child.stdio) stream?.on('error', () => undefined);
    this.log.on('data', (words: Buffer) => {
      this.#lastWords = (this.#lastWords + words.toString('utf8')).slice(-MAX_WORDS);
    });
    this.ended = new Promise((resolve) => {
      child.once('error', (error) => {
        if (child.pid === undefined) resolve(this.#over(`it could not be started: ${reasonOf(error)}`));
      });
      child.once('exit', (code, signal) => {
        this.#signal('SIGKILL');
        void this.#readOut().then(() => resolve(this.#over(howItEnded(code, signal))));
      });
    });
  }

  /** Ends it: by the end of its input, by SIGTERM, by SIGKILL, each when the one before was no use for `graceMs`. */
  async stop(graceMs: number): Promise<void> {
    if (this.#isOver) return;
    this.input.end();
    if (!(await this.#endsWithin(graceMs))) {
      this.#signal('SIGTERM');
      if (!(await this.#endsWithin(graceMs))) this.kill();
    }
    await this.ended;
  }

  /** Ends it and its group at once. */
  kill(): void {
    if (!this.#isOver) this.#signal('SIGKILL');
  }

  #endsWithin(ms: number): Promise<boolean> {
    return new Promise((resolve) => {
      const stop = this.#clock.setTimer(ms, () => resolve(false));
      void this.ended.then(() => {
        stop();
        resolve(true);
      });
    });
  }

  /** Resolves when what it has written is read, or does not come. */
  #readOut(): Promise<void> {
    return new Promise((resolve) => {
      if (this.output.closed) return resolve();
      const stop = this.#clock.setTimer(LEFTOVER_MS, resolve);
      this.output.once('close', () => {
        stop();
        resolve();
      });
    });
  }

  #over(how: string): string {
    this.#isOver = true;
    for (const stream of [this.input, this.output, this.log, this.#child.stdio[LIFELINE]]) stream?.destroy();
    const said = this.#lastWords.trim();
    return said === '' ? how : `${how}; it said: ${said.slice(-400)}`;
  }

  /** Its number stands for its group: nobody else can have it as long as the watcher or what it has started is there. */
  #signal(signal: NodeJS.Signals): void {
    if (this.pid === undefined) return;
    try {
      process.kill(-this.pid, signal);
    } catch {
      this.#child.kill(signal); // Not every system has groups.
    }
  }
}

const howItEnded = (code: number | null, signal: string | null): string =>
  signal === null ? `its process ended with exit code ${code}` : `its process was ended by ${signal}`;
