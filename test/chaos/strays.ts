import { readdirSync, readFileSync } from 'node:fs';
import { isRunning } from '../fixtures/processes.ts';

/** How long a process may take to notice that its host is gone. */
const GRACE_MS = 5_000;

/** The processes that have `folder` in their command line, and still have it a moment later. Needs `/proc`. */
export async function straysOf(folder: string): Promise<readonly number[]> {
  const endMs = performance.now() + GRACE_MS;
  for (;;) {
    const found = readdirSync('/proc')
      .filter((name) => /^\d+$/.test(name) && Number(name) !== process.pid)
      .map(Number)
      .filter((pid) => commandOf(pid).includes(folder) && isRunning(pid));
    if (found.length === 0 || performance.now() > endMs) return found;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

function commandOf(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'latin1');
  } catch {
    return '';
  }
}
