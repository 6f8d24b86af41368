import { type ChildProcess, spawn } from 'node:child_process';
import type { Duplex, Readable, Writable } from 'node:stream';
import { fileURLToPath } from 'node:url';
import { reasonOf } from '../protocol/errors.ts';
import type { Clock, NewId } from '../protocol/seams.ts';
import { bubblewrapCommand, requireBubblewrap } from './bubblewrap.ts';
import { codePaths } from './code-paths.ts';
import { FD, USAGE_BYTES } from './file-descriptors.ts';
import { remainingAbilities, nodeArguments } from './node-arguments.ts';
import { innermostOf } from '../os/proc-table.ts';
import { hasProc, preferAsVictim, type ProcessUsage, procUsage } from '../os/proc-usage.ts';
import { endFamily, MARK } from '../os/process-family.ts';
import { mayStartOthers, type ProcessOptions } from '../agent/process-options.ts';
import type { ProcessSpawner, SpawnedProcess } from './process-spawner.ts';

/** How long what a process wrote may take to arrive when it is gone: somebody else may hold the pipe. */
const LEFTOVER_MS = 500;

export interface NodeProcessSpawnerDeps {
  /** The file that each process runs. */
  readonly entry: URL;
  readonly clock: Clock;
  readonly newId: NewId;
  /** Whether to look into `/proc`, where there is one. @default true */
  readonly usesProc?: boolean;
}

/** Starts Node processes under the permission model, each at the head of a process group of its own. */
export class NodeProcessSpawner implements ProcessSpawner {
  readonly #deps: NodeProcessSpawnerDeps;

  constructor(deps: NodeProcessSpawnerDeps) {
    this.#deps = deps;
  }

  check(options: ProcessOptions): Promise<void> {
    return options.within === 'bubblewrap' ? requireBubblewrap(options) : Promise.resolve();
  }

  spawn(module: string, options: ProcessOptions): SpawnedProcess {
    const { entry, clock, newId, usesProc = true } = this.#deps;
    const code = codePaths(module, entry);
    const mark = options.within === undefined && mayStartOthers(options) ? newId() : undefined;
    const node = [...nodeArguments(options, code), fileURLToPath(entry), ...remainingAbilities(options)];
    const wrapped = options.within === undefined ? undefined : bubblewrapCommand(options, code);
    const [command, args] =
      wrapped === undefined
        ? [process.execPath, node]
        : [wrapped.command, [...wrapped.args, process.execPath, ...node]];
    const child = spawn(command, args, {
      env: environmentOf({ ...options.env, ...(mark === undefined ? {} : { [MARK]: mark }) }),
      // What a terminal signals to the host's group is not for it: it ends when the host says so, or is gone.
      detached: true,
      stdio: ['ignore', 'pipe', 'pipe', 'pipe', 'pipe', 'pipe', 'pipe'],
      windowsHide: true,
    });
    // One that cannot be started has no pipes, and says so later.
    child.on('error', () => undefined);
    if (child.stdio === undefined) throw new Error('the system starts no more processes');
    const isWrapped = wrapped !== undefined;
    return new NodeProcess(child, { clock, usesProc: usesProc && hasProc(), isWrapped, mark });
  }
}

interface NodeProcessDeps {
  readonly clock: Clock;
  readonly usesProc: boolean;
  /** Whether it is `bwrap`, and Node somewhere below it. */
  readonly isWrapped: boolean;
  /** By which what it starts is known; undefined when it may start nothing, or cannot leave anything behind. */
  readonly mark: string | undefined;
}

class NodeProcess implements SpawnedProcess {
  readonly pid: number | undefined;
  readonly #child: ChildProcess;
  readonly #deps: NodeProcessDeps;
  readonly #inbox: Duplex;
  readonly #outbox: Duplex;
  readonly #answers: Duplex;
  readonly #lifeline: Lifeline;
  readonly #errorTail = new OutputTail();
  /** The number of Node's own process when it is wrapped, once it is known. */
  #inner: number | undefined;
  #isCorked = false;
  #isExited = false;
  #hasSaidAll = false;
  #reason = 'it could not be started';
  #onExit: ((reason: string) => void) | undefined;

  constructor(child: ChildProcess, deps: NodeProcessDeps) {
    this.#child = child;
    this.#deps = deps;
    this.pid = child.pid;
    const pipes = child.stdio as unknown as readonly Duplex[];
    const pipe = (fd: number): Duplex => quiet(pipes[fd] as Duplex);
    this.#inbox = pipe(FD.inbox);
    this.#outbox = pipe(FD.outbox);
    this.#answers = pipe(FD.answers);
    this.#lifeline = new Lifeline(pipe(FD.lifeline), () => this.kill());
    forwardOutput(child.stdout, process.stdout);
    forwardOutput(child.stderr, process.stderr, (text) => this.#errorTail.add(text));
    if (this.pid !== undefined && deps.usesProc) preferAsVictim(this.pid);
    this.#outbox.once('close', () => this.#saidAll());
    child.on('error', (error) => {
      if (this.pid === undefined) this.#exited(`its process could not be started: ${reasonOf(error)}`);
    });
    child.once('exit', (code, signal) => this.#exited(exitReason(code, signal, this.#errorTail.text)));
  }

  get backlogBytes(): number {
    return this.#inbox.writableLength;
  }

  get unreadAnswerBytes(): number {
    return this.#answers.writableLength;
  }

  write(bytes: Uint8Array): void {
    if (this.#isExited) return;
    // What is written at once goes in one piece.
    if (!this.#isCorked) {
      this.#isCorked = true;
      this.#inbox.cork();
      process.nextTick(() => {
        this.#isCorked = false;
        this.#inbox.uncork();
      });
    }
    this.#inbox.write(bytes);
  }

  answer(bytes: Uint8Array): void {
    if (!this.#isExited) this.#answers.write(bytes);
  }

  onBytes(listener: (bytes: Buffer) => void): void {
    this.#outbox.on('data', listener);
  }

  pause(): void {
    this.#outbox.pause();
  }

  resume(): void {
    this.#outbox.resume();
  }

  async usage(): Promise<ProcessUsage | undefined> {
    if (this.pid === undefined || this.#isExited) return undefined;
    const { usesProc, isWrapped } = this.#deps;
    if (!usesProc) return this.#lifeline.usage();
    if (isWrapped) this.#inner ??= innermostOf(this.pid);
    return procUsage(this.#inner ?? this.pid);
  }

  kill(): void {
    if (!this.#isExited) this.#killGroup();
  }

  onExit(listener: (reason: string) => void): void {
    this.#onExit = listener;
    this.#tellIfOver();
  }

  /** Its number stands for its group; nobody else can have it while somebody of the group is there. */
  #killGroup(): void {
    if (this.pid === undefined) return;
    const { mark, usesProc } = this.#deps;
    if (mark !== undefined && usesProc) endFamily(this.pid, mark);
    try {
      process.kill(-this.pid, 'SIGKILL');
    } catch {
      this.#child.kill('SIGKILL'); // Not every system has groups.
    }
  }

  #exited(reason: string): void {
    if (this.#isExited) return;
    if (this.#deps.mark !== undefined) this.#killGroup();
    this.#isExited = true;
    this.#reason = reason;
    this.#tellIfOver();
    this.#deps.clock.setTimer(LEFTOVER_MS, () => this.#leaveLeftovers());
  }

  #leaveLeftovers(): void {
    if (this.#hasSaidAll) return;
    if (this.#outbox.isPaused()) this.#deps.clock.setTimer(LEFTOVER_MS, () => this.#leaveLeftovers());
    else this.#saidAll();
  }

  #saidAll(): void {
    this.#hasSaidAll = true;
    this.#tellIfOver();
  }

  #tellIfOver(): void {
    if (!this.#isExited || !this.#hasSaidAll || this.#onExit === undefined) return;
    const tell = this.#onExit;
    this.#onExit = undefined;
    for (const stream of [this.#inbox, this.#outbox, this.#answers]) stream.destroy();
    tell(this.#reason);
  }
}

/** That a process is gone is told once, by its exit: not by every pipe that breaks. */
function quiet(stream: Duplex): Duplex {
  stream.on('error', () => undefined);
  return stream;
}

/** Nothing is inherited but what Windows cannot start a process without. */
function environmentOf(env: Readonly<Record<string, string>>): Record<string, string> {
  const root = process.env['SystemRoot'];
  return root === undefined ? { ...env } : { SystemRoot: root, ...env };
}

/** What V8 writes before it gives up. */
const OUT_OF_HEAP =
  /JavaScript heap out of memory|Fatal JavaScript invalid size error|Invalid (array|table) length/;

/** How a process ended, as a sentence without a full stop. `errorTail` is the end of what it wrote to standard error. */
export function exitReason(code: number | null, signal: string | null, errorTail: string): string {
  const how = signal === null ? `ended with exit code ${code}` : `was ended by ${signal}`;
  return OUT_OF_HEAP.test(errorTail) ? `its process ran out of memory and ${how}` : `its process ${how}`;
}

const MAX_TAIL = 4_096;

/** The last characters that a process wrote. */
class OutputTail {
  text = '';

  add(text: string): void {
    this.text = (this.text + text).slice(-MAX_TAIL);
  }
}

/**
 * Writes what a process prints to the host's own output, a piece at a time. The process never has the host's descriptors:
 * they would let it read a terminal, or cut a log short.
 */
function forwardOutput(from: Readable | null, to: Writable, onText?: (text: string) => void): void {
  from?.on('error', () => undefined);
  from?.on('data', (chunk: Buffer) => {
    onText?.(chunk.toString());
    from.pause();
    to.write(chunk, () => from.resume());
  });
}

const ASK = Buffer.of(1);

/** The host's end of a process's lifeline: as long as it is open, the process may live. */
class Lifeline {
  readonly #stream: Duplex;
  #bytes = Buffer.alloc(0);
  #waiting: ((usage: ProcessUsage | undefined) => void)[] = [];

  /** `onCut`: the process let go of it. */
  constructor(stream: Duplex, onCut: () => void) {
    this.#stream = stream;
    stream.on('data', (bytes: Buffer) => this.#take(bytes));
    stream.once('close', () => {
      for (const tell of this.#waiting.splice(0)) tell(undefined);
      onCut();
    });
  }

  /** Asks the watching thread of the process. */
  usage(): Promise<ProcessUsage | undefined> {
    if (this.#stream.destroyed) return Promise.resolve(undefined);
    return new Promise((resolve) => {
      this.#waiting.push(resolve);
      this.#stream.write(ASK);
    });
  }

  #take(bytes: Buffer): void {
    this.#bytes = Buffer.concat([this.#bytes, bytes]);
    while (this.#bytes.length >= USAGE_BYTES) {
      const [cpuMs, residentBytes] = [this.#bytes.readDoubleLE(0), this.#bytes.readDoubleLE(8)];
      this.#bytes = this.#bytes.subarray(USAGE_BYTES);
      this.#waiting.shift()?.({ cpuMs, residentBytes });
    }
  }
}
