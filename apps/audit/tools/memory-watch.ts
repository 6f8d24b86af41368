import { execFile } from 'node:child_process';

const LOOK_EVERY_MS = 1_000;

/**
 * A limit of memory.
 *
 * - `program`      name of the program; only descendants of this process are watched.
 * - `maxMb`        most resident memory of one process.
 * - `lookEveryMs`  interval of checks, milliseconds. @default 1,000
 */
export interface MemoryLimit {
  readonly program: string;
  readonly maxMb: number;
  readonly lookEveryMs?: number;
}

/** Kills a process that exceeds its memory limit, and calls `onOver`. Does nothing on systems without `ps`. */
export class MemoryWatch implements Disposable {
  readonly #limit: MemoryLimit;
  readonly #onOver: () => void;
  readonly #timer: NodeJS.Timeout;
  #isClosed = false;

  constructor(limit: MemoryLimit, onOver: () => void) {
    this.#limit = limit;
    this.#onOver = onOver;
    this.#timer = setInterval(() => this.#look(), limit.lookEveryMs ?? LOOK_EVERY_MS);
  }

  [Symbol.dispose](): void {
    this.#isClosed = true;
    clearInterval(this.#timer);
  }

  #look(): void {
    execFile('ps', ['-A', '-o', 'pid=,ppid=,rss=,comm='], (error, out) => {
      if (error !== null || this.#isClosed) return;
      const { program, maxMb } = this.#limit;
      const over = descendantsIn(out).filter(({ name, kib }) => name === program && kib > maxMb * 1024);
      for (const { pid } of over) this.#end(pid);
    });
  }

  #end(pid: number): void {
    this[Symbol.dispose]();
    this.#onOver();
    try {
      process.kill(pid, 'SIGKILL');
    } catch {
      // It has ended in between.
    }
  }
}

interface Listed {
  readonly pid: number;
  readonly parent: number;
  readonly kib: number;
  readonly name: string;
}

/** The processes in a list that are descendants of this one. */
function descendantsIn(list: string): Listed[] {
  const byParent = Map.groupBy(list.split('\n').map(listedIn), ({ parent }) => parent);
  const found = [...(byParent.get(process.pid) ?? [])];
  for (const { pid } of found) found.push(...(byParent.get(pid) ?? []));
  return found;
}

function listedIn(line: string): Listed {
  const [pid, parent, kib, ...command] = line.trim().split(/\s+/);
  const name = command.join(' ').replace(/^.*\//, '');
  return { pid: Number(pid), parent: Number(parent), kib: Number(kib), name };
}
