import { readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { join } from 'node:path';

const PROCESSES = '/proc';

/**
 * Ends every process that was started in `folder`, or with something in it: a bug may be that one outlives its host.
 *
 * Looks at the command lines and working directories of all processes, so it finds none where there is no `/proc`.
 */
export function endStrays(folder: string): void {
  for (const pid of pids()) {
    if (pid === process.pid || !originOf(pid).includes(folder)) continue;
    try {
      process.kill(pid, 'SIGKILL');
    } catch {
      // It is gone already.
    }
  }
}

function pids(): readonly number[] {
  try {
    return readdirSync(PROCESSES)
      .filter((name) => /^\d+$/.test(name))
      .map(Number);
  } catch {
    return [];
  }
}

function originOf(pid: number): string {
  try {
    const own = join(PROCESSES, String(pid));
    return `${readFileSync(join(own, 'cmdline'), 'utf8')}\0${readlinkSync(join(own, 'cwd'))}`;
  } catch {
    return '';
  }
}
