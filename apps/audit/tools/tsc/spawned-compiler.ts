import type { ChildProcess } from 'node:child_process';
import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { basename } from 'node:path';

/** Where Node tells of each process that is started. */
const CHANNEL = 'child_process';

type Written = (error?: Error | null) => void;

/**
 * The process that the compiler's own client starts, as far as writing to it goes. The client writes a request in two steps;
 * when the process ends between them, the second fails with a rejection that nobody can handle, and that ends this process.
 * So what is written after its end, or `drop()`, is let go of, and nobody is told that it failed.
 */
export class SpawnedCompiler implements Disposable {
  readonly #program: string;
  #isDropped = false;

  constructor(program: string) {
    this.#program = program;
    subscribe(CHANNEL, this.#started);
  }

  /** Whatever is written from now on goes nowhere. */
  drop(): void {
    this.#isDropped = true;
  }

  [Symbol.dispose](): void {
    unsubscribe(CHANNEL, this.#started);
  }

  readonly #started = (message: unknown): void => {
    const { process: child } = message as { readonly process: ChildProcess };
    // Before the client hears of it, and writes.
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
