import { type ChildProcessByStdio, spawn } from 'node:child_process';
import { once } from 'node:events';
import type { Readable } from 'node:stream';
import { CONDITIONS } from '../fixtures/conditions.ts';

export interface VictimEnd {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
}

/** A process that is there to be killed: a program of ours under the Node that runs this. */
export class Victim {
  /** Whole lines that it printed; what it has printed is in the pipe when it dies. */
  readonly lines: string[] = [];
  readonly ended: Promise<VictimEnd>;
  readonly startedMs = performance.now();
  errors = '';
  readonly #child: ChildProcessByStdio<null, Readable, Readable>;
  #rest = '';
  #isOver = false;
  #wake = Promise.withResolvers<void>();

  /** `words` are the program and its arguments, options of Node before it. */
  constructor(words: readonly string[], cwd: string) {
    this.#child = spawn(process.execPath, [...CONDITIONS, ...words], {
      cwd,
      env: { ...process.env, FORCE_COLOR: undefined, NODE_OPTIONS: undefined },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    this.#child.stdout.setEncoding('utf8').on('data', (text: string) => this.#onText(text));
    this.#child.stderr.setEncoding('utf8').on('data', (text: string) => {
      this.errors += text;
    });
    this.ended = once(this.#child, 'close').then(([code, signal]) => {
      this.#isOver = true;
      this.#wake.resolve();
      return { code, signal } as VictimEnd;
    });
  }

  get pid(): number {
    return this.#child.pid ?? 0;
  }

  get isOver(): boolean {
    return this.#isOver;
  }

  /** Resolves once `count` lines match, or it has ended; says whether they do. */
  async prints(pattern: RegExp, count = 1): Promise<boolean> {
    for (;;) {
      if (this.lines.filter((line) => pattern.test(line)).length >= count) return true;
      if (this.#isOver) return false;
      await this.#wake.promise;
    }
  }

  /** Resolves after so long, or when it has ended. */
  async goesOn(ms: number): Promise<void> {
    let timer: NodeJS.Timeout | undefined;
    const passed = new Promise<void>((resolve) => {
      timer = setTimeout(resolve, ms);
    });
    await Promise.race([passed, this.ended]);
    clearTimeout(timer);
  }

  signal(name: NodeJS.Signals): void {
    this.#child.kill(name);
  }

  /** Kills it, if it still runs; says whether that is what ended it. */
  async kill(): Promise<boolean> {
    this.signal('SIGKILL');
    return (await this.ended).signal === 'SIGKILL';
  }

  /** Its end, if it comes by itself within `ms`; else it is killed, and this rejects. */
  async ends(ms: number): Promise<VictimEnd> {
    await this.goesOn(ms);
    if (this.#isOver) return this.ended;
    await this.kill();
    throw new Error(
      `It did not end within ${ms} ms; its last line is "${this.lines.at(-1)}". ${this.errors}`,
    );
  }

  #onText(text: string): void {
    const lines = (this.#rest + text).split('\n');
    this.#rest = lines.pop() ?? '';
    this.lines.push(...lines);
    const { resolve } = this.#wake;
    this.#wake = Promise.withResolvers();
    resolve();
  }
}
