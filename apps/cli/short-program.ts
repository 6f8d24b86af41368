import type { Readable } from 'node:stream';
import type { Clock } from 'orrery';
import { GuardedProcess, programEnv } from 'orrery/coding';

/** How long a program may take that is only asked something, milliseconds. Some load for seconds before they say their version. */
const TIMEOUT_MS = 60_000;
/** What is kept of its output, bytes. */
const MAX_BYTES = 8 * 1024 * 1024;

/**
 * What a program that was asked something has said.
 *
 * - `output`  the beginning of its standard output; it is whole unless `isCut`.
 * - `log`     the beginning of its standard error.
 * - `failure` it could not be started, or was ended because its time was over.
 */
export interface ShortAnswer {
  readonly code: number | null;
  readonly output: string;
  readonly isCut: boolean;
  readonly log: string;
  readonly failure?: string;
}

/** - `timeoutMs` until it is ended. @default 60_000 */
interface ShortOrder {
  readonly command: string;
  readonly args: readonly string[];
  readonly cwd?: string;
  readonly timeoutMs?: number;
}

let asked = 0;

/** Runs a program to its end, bounded in time and output. It has nothing to read, and nothing that it starts outlives it. */
export async function askProgram(
  { command, args, cwd, timeoutMs = TIMEOUT_MS }: ShortOrder,
  clock: Pick<Clock, 'setTimer'>,
): Promise<ShortAnswer> {
  const mark = `orrery-ask-${process.pid}-${asked++}`;
  const program = new GuardedProcess({ command, args, cwd, env: programEnv(process.env, []), mark }, clock);
  program.input.end();
  let timedOut = false;
  const cancel = clock.setTimer(timeoutMs, () => {
    timedOut = true;
    program.kill();
  });
  const [kept, log, end] = await Promise.all([
    beginningOf(program.output),
    beginningOf(program.log),
    program.ended,
  ]);
  cancel();
  const failure = timedOut ? `said nothing within ${timeoutMs / 1_000} s` : end.failure;
  return { code: end.code, ...kept, log: log.output, ...(failure === undefined ? {} : { failure }) };
}

async function beginningOf(stream: Readable): Promise<Pick<ShortAnswer, 'output' | 'isCut'>> {
  const kept: Buffer[] = [];
  let bytes = 0;
  try {
    for await (const chunk of stream as AsyncIterable<Buffer>) {
      if (bytes < MAX_BYTES) kept.push(chunk.subarray(0, MAX_BYTES - bytes));
      bytes += chunk.length;
    }
  } catch {
    // It was ended while it wrote; `failure` says so.
  }
  return { output: Buffer.concat(kept).toString('utf8'), isCut: bytes > MAX_BYTES };
}
