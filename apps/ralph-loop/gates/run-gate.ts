import type { Readable } from 'node:stream';
import { StringDecoder } from 'node:string_decoder';
import type { Clock } from 'orrery';
import { GuardedProcess, secretsIn } from 'orrery/coding';
import { GATE_TIMEOUT_MS, type MissionGate } from '../mission/mission.ts';
import { TestCounter } from './count-tests.ts';
import { programOf, shownCommand } from './gate-command.ts';
import { GateLog, type KeptLog } from './gate-log.ts';
import type { GateReceipt } from './gate-receipt.ts';
import { type GateEnd, judgeGate } from './judge-gate.ts';
import { SecretFilter } from './secret-filter.ts';

/** How long a gate that is to end may take after SIGTERM, milliseconds. */
const GRACE_MS = 2_000;

/**
 * What a gate is run with.
 *
 * - `cwd`     the worktree.
 * - `logFile` for its output, at most 16 MB of it; the folder is made.
 * - `signal`  ends it.
 * - `env`     all of its environment; see `gateEnvironment`. Secrets in it are hidden in the log.
 * - `mark`    by which it and what it starts is known. No other process has it.
 */
export interface RunGateDeps {
  readonly cwd: string;
  readonly logFile: string;
  readonly signal?: AbortSignal | undefined;
  readonly env: Readonly<Record<string, string>>;
  readonly clock: Clock;
  readonly mark: string;
}

/**
 * Runs a gate as a process of its own and says what came of it. Nothing that the process has started is left when this resolves.
 *
 * @throws what the file system says, if the log cannot be made or closed
 */
export async function runGate(gate: MissionGate, deps: RunGateDeps): Promise<GateReceipt> {
  const startedMs = deps.clock.monotonicMs();
  const log = await GateLog.open(deps.logFile);
  const counter = new TestCounter();
  let end: GateEnd;
  let kept: KeptLog;
  try {
    end = await endOf(gate, deps, { log, counter, secrets: secretsIn(deps.env) });
  } finally {
    kept = await log.close();
  }
  const tests = counter.end();
  return {
    gate: gate.name,
    command: shownCommand(gate.run),
    exitCode: end.exitCode,
    ...(end.signal === undefined ? {} : { signal: end.signal }),
    timedOut: end.endedFor === 'time',
    ...judgeGate(gate, { ...end, tests }),
    ...(tests === undefined ? {} : { tests }),
    durationMs: Math.max(0, deps.clock.monotonicMs() - startedMs),
    logFile: deps.logFile,
    logBytes: kept.bytes,
    logSha256: kept.sha256,
  };
}

interface Sinks {
  readonly log: GateLog;
  readonly counter: TestCounter;
  readonly secrets: readonly string[];
}

async function endOf(gate: MissionGate, deps: RunGateDeps, sinks: Sinks): Promise<GateEnd> {
  const timeoutMs = gate.timeoutMs ?? GATE_TIMEOUT_MS;
  const { cwd, env, mark, clock, signal } = deps;
  if (signal?.aborted) return { exitCode: null, endedFor: 'stop', timeoutMs };
  const process = new GuardedProcess({ ...programOf(gate.run), cwd, env, mark }, clock);
  let endedFor: GateEnd['endedFor'];
  const end = (why: 'time' | 'stop'): void => {
    endedFor ??= why;
    void process.stop(GRACE_MS); // It never rejects, and whoever waits for the end waits below.
  };
  const stop = (): void => end('stop');
  const cancel = clock.setTimer(timeoutMs, () => end('time'));
  signal?.addEventListener('abort', stop, { once: true });
  try {
    const [ended, ...lost] = await Promise.all([
      process.ended,
      readOut(process.output, sinks),
      readOut(process.log, sinks),
    ]);
    const reason = ended.failure ?? lost.find((why) => why !== undefined);
    return {
      exitCode: ended.code,
      signal: ended.signal ?? undefined,
      failure: reason,
      endedFor,
      timeoutMs,
    };
  } finally {
    cancel();
    signal?.removeEventListener('abort', stop);
  }
}

/** Reads a stream to its end, for the log and the count. Resolves to why it was not kept, if it was not. */
async function readOut(stream: Readable, { log, counter, secrets }: Sinks): Promise<string | undefined> {
  const decoder = new StringDecoder('utf8');
  const filter = new SecretFilter(secrets);
  let lost: string | undefined;
  // What cannot be kept is read all the same: the process must get on, and end.
  const keep = (part: Uint8Array): Promise<void> =>
    log.write(part).catch((error: unknown) => {
      lost ??= `its output could not be kept: ${String(error)}`;
    });
  try {
    for await (const part of stream as AsyncIterable<Buffer>) {
      counter.write(decoder.write(part));
      await keep(filter.write(part));
    }
  } catch {
    // Its end was not waited for: somebody outside of its family has the stream open.
  }
  await keep(filter.end());
  return lost;
}
