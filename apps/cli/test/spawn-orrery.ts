import { type ChildProcessByStdio, spawn } from 'node:child_process';
import type { Readable } from 'node:stream';
import { fileURLToPath } from 'node:url';
import { CONDITIONS } from '../../../test/fixtures/conditions.ts';

/** The file that the command is. */
export const MAIN = fileURLToPath(new URL('../main.ts', import.meta.url));

export interface Ended {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** The real command in a process of its own, without a terminal; or `main`, another file. */
export class Orrery {
  readonly child: ChildProcessByStdio<null, Readable, Readable>;
  readonly ended: Promise<Ended>;
  #stdout = '';
  #waiting: { text: string; found: () => void }[] = [];

  constructor(
    words: readonly string[],
    options: { cwd?: string; env?: NodeJS.ProcessEnv; main?: string } = {},
  ) {
    this.child = spawn(process.execPath, [...CONDITIONS, options.main ?? MAIN, ...words], {
      cwd: options.cwd,
      env: { ...process.env, FORCE_COLOR: undefined, ...options.env },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    let stderr = '';
    this.child.stdout.setEncoding('utf8').on('data', (text: string) => this.#onStdout(text));
    this.child.stderr.setEncoding('utf8').on('data', (text: string) => {
      stderr += text;
    });
    const { promise, resolve } = Promise.withResolvers<Ended>();
    this.ended = promise;
    this.child.once('close', (code, signal) => resolve({ code, signal, stdout: this.#stdout, stderr }));
  }

  /** What was printed so far. */
  get stdout(): string {
    return this.#stdout;
  }

  /** Resolves once `text` was printed, or the command ended without it. */
  async printed(text: string): Promise<void> {
    if (this.#stdout.includes(text)) return;
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#waiting.push({ text, found: resolve });
    await Promise.race([promise, this.ended]);
  }

  /** Resolves once so many lines were printed, or the command ended before. */
  async printedLines(lines: number): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    const look = (): void => {
      if (this.#stdout.split('\n').length > lines) resolve();
    };
    this.child.stdout.on('data', look);
    look();
    await Promise.race([promise, this.ended]);
  }

  #onStdout(text: string): void {
    this.#stdout += text;
    for (const { text: wanted, found } of this.#waiting) if (this.#stdout.includes(wanted)) found();
  }
}

/** Runs the command to its end. */
export const orrery = (...words: readonly string[]): Promise<Ended> => new Orrery(words).ended;
