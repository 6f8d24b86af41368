import { type ChildProcess, spawn } from 'node:child_process';
import type { Readable, Writable } from 'node:stream';
import { getDefaultEnvironment } from '@modelcontextprotocol/client/stdio';
import { reasonOf } from '../../../runtime/protocol/errors.ts';
import type { Clock } from '../../../runtime/protocol/seams.ts';

/**
 * The script of a shell that becomes the server. It first starts a watcher in the server's process group, which waits for the
 * end of descriptor 3. Only this process holds the other end, so it ends when this process does, even by SIGKILL. The watcher
 * then kills the group and itself. It holds none of the server's pipes.
 */
const WATCHED =
  '(trap "" TERM HUP INT; exec 0</dev/null >/dev/null 2>&1; read -r _ <&3; kill -9 0) & exec 3<&-; exec "$@"';
const LIFELINE = 3;
/** How much of its last log output is kept for the reason of its end, characters. */
const MAX_LOG_TAIL = 2_048;
/** How long the last output may take to arrive once the process has exited, milliseconds. */
const LEFTOVER_MS = 500;

export interface ChildOrder {
  readonly command: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  readonly cwd: string | undefined;
}

/**
 * The process of an MCP server, the leader of its own process group. It cannot outlive this process while it stays in the
 * group, even if it ignores signals and the end of its input.
 */
export class GuardedChild {
  readonly pid: number | undefined;
  /** Resolves to a sentence about how the process ended. The whole group has ended then. */
  readonly ended: Promise<string>;
  readonly input: Writable;
  readonly output: Readable;
  readonly log: Readable;
  readonly #child: ChildProcess;
  readonly #clock: Pick<Clock, 'setTimer'>;
  #isOver = false;
  #logTail = '';

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
      // Ctrl+C in a terminal must not reach it.
      detached: isGuarded,
      windowsHide: true,
    });
    this.#child = child;
    this.pid = child.pid;
    this.input = child.stdin as Writable;
    this.output = child.stdout as Readable;
    this.log = child.stderr as Readable;
    for (const stream of child.stdio) stream?.on('error', () => undefined);
    this.log.on('data', (chunk: Buffer) => {
      this.#logTail = (this.#logTail + chunk.toString('utf8')).slice(-MAX_LOG_TAIL);
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

  /** Ends it: by the end of its input, then by SIGTERM, then by SIGKILL, with `graceMs` between them. */
  async stop(graceMs: number): Promise<void> {
    if (this.#isOver) return;
    this.input.end();
    if (!(await this.#endsWithin(graceMs))) {
      this.#signal('SIGTERM');
      if (!(await this.#endsWithin(graceMs))) this.kill();
    }
    await this.ended;
  }

  /** Kills it and its group at once. */
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

  /** Resolves when its output is read, or after `LEFTOVER_MS`. */
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
    const said = this.#logTail.trim();
    return said === '' ? how : `${how}; it said: ${said.slice(-400)}`;
  }

  /** Signals the group. Its number cannot be reused while the watcher, or anything else in the group, lives. */
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
