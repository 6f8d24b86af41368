import type { ChildProcess } from 'node:child_process';
import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { basename } from 'node:path';

/** Node's diagnostics channel for started processes. */
const CHANNEL = 'child_process';

type Written = (error?: Error | null) => void;

/**
 * Guards writes to the process that the compiler's client starts. The client writes a request in two steps. If the process
 * ends between them, the second one rejects, nobody can handle that, and this process ends. So writes after its end, or after
 * `drop()`, are discarded without an error.
 */
export class SpawnedCompiler implements Disposable {
  readonly #program: string;
  #isDropped = false;

  constructor(program: string) {
    this.#program = program;
    subscribe(CHANNEL, this.#started);
  }

  /** Discards all writes from now on. */
  drop(): void {
    this.#isDropped = true;
  }

  [Symbol.dispose](): void {
    unsubscribe(CHANNEL, this.#started);
  }

  readonly #started = (message: unknown): void => {
    const { process: child } = message as { readonly process: ChildProcess };
    // Must run before the client's listener, which writes.
    child.prependOnceListener('spawn', () => {
      if (basename(child.spawnfile) === this.#program) this.#guard(child);
    });
  };

  #guard({ stdin }: ChildProcess): void {
    if (stdin === null) return;
    const write = stdin.write.bind(stdin) as (chunk: unknown, encoding: unknown, written: Written) => boolean;
    stdin.write = (chunk: unknown, ...rest: unknown[]): boolean => {
      const written = rest.find((word) => typeof word === 'function') as Written | undefined;
      const encoding = typeof rest[0] === 'string' ? rest[0] : undefined;
      const isOver = (): boolean => this.#isDropped || stdin.writableEnded || stdin.destroyed;
      const told: Written = (error) => written?.(isOver() ? undefined : error);
      if (!isOver()) return write(chunk, encoding, told);
      told();
      return true;
    };
  }
}
