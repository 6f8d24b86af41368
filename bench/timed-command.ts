import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { text } from 'node:stream/consumers';
import { setInterval } from 'node:timers';
import { reasonIn } from './child-process.ts';

const LOOK_EVERY_MS = 100;
const BYTES_A_KB = 1_024;
/** It tells the processor time of all whom it has waited for, which is everybody: each waits for those whom it has started. */
const TIMES = '"$@" >/dev/null; code=$?; times; exit $code';

/** - `cpuMs` of it and all that it started. - `peakBytes` the most memory of its own process; 0 where nothing tells. */
export interface Timed {
  readonly wallMs: number;
  readonly cpuMs: number;
  readonly peakBytes: number;
}

/** Runs a program by the shell, which counts also processes that live for a moment. Throws what it says when it fails. */
export async function timedCommand(
  [program, ...args]: readonly [string, ...string[]],
  { cwd, env }: { readonly cwd: string; readonly env: NodeJS.ProcessEnv },
): Promise<Timed> {
  const startedMs = performance.now();
  const child = spawn('/bin/sh', ['-c', TIMES, 'sh', program, ...args], {
    cwd,
    env,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let peakBytes = 0;
  const timer = setInterval(() => {
    peakBytes = Math.max(peakBytes, peakOfChild(child.pid));
  }, LOOK_EVERY_MS);
  try {
    const ended = new Promise<number | null>((resolve, reject) => {
      child.on('error', reject);
      child.on('close', resolve);
    });
    const [code, said, errors] = await Promise.all([ended, text(child.stdout), text(child.stderr)]);
    const wallMs = performance.now() - startedMs;
    if (code !== 0) throw new Error(`${program} ${args[0]} exited with ${code}: ${reasonIn(errors)}`);
    return { wallMs, cpuMs: cpuIn(said), peakBytes };
  } finally {
    clearInterval(timer);
  }
}

/** The second line that `times` prints: the user's and the system's time of the children, as `1m2.34s`. */
export function cpuIn(said: string): number {
  const line = said.trim().split('\n').at(-1) ?? '';
  const parts = [...line.matchAll(/(\d+)m([\d.]+)s/g)];
  return parts.reduce(
    (sum, [, minutes, seconds]) => sum + Number(minutes) * 60_000 + Number(seconds) * 1_000,
    0,
  );
}

/** The most memory that the one child of a process has had. */
function peakOfChild(pid: number | undefined): number {
  try {
    const child = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim();
    const status = readFileSync(`/proc/${child}/status`, 'utf8');
    return Number(/^VmHWM:\s+(\d+) kB/m.exec(status)?.[1] ?? 0) * BYTES_A_KB;
  } catch {
    return 0; // It has not begun, or has ended.
  }
}
