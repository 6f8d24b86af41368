import { type ChildProcess, spawn } from 'node:child_process';
import type { Socket } from 'node:net';
import { MARK } from './process-family.ts';

/**
 * The script of a shell that waits for the end of its input, whose other end only this process holds: it ends with this
 * process, even by SIGKILL, and with the thread that opened it. The last line says which group is to be killed, or `over`.
 * Then it kills whoever has the mark, until it has found nobody three times: what is being started may have no environment
 * yet. Without `/proc` the group is all that it knows.
 */
const SCRIPT = `
trap "" TERM HUP INT
told=
while read -r line; do told=$line; done
[ "$told" = over ] && exit 0
[ -n "$told" ] && kill -9 -- "-$told"
[ -r /proc/self/environ ] || exit 0
quiet=0
looks=0
while [ "$quiet" -lt 3 ] && [ "$looks" -lt 500 ]; do
  quiet=$((quiet + 1))
  looks=$((looks + 1))
  for file in $(grep -lszxF -e "$1" /proc/[0-9]*/environ); do
    pid=\${file#/proc/}
    kill -9 "\${pid%/environ}" && quiet=0
  done
  sleep 0.05 || sleep 1
done`;

const OVER = 'over';

/**
 * A process of its own that kills a family when this process is gone. It has neither the family's group nor its mark, and
 * holds none of its pipes.
 */
export class FamilyWatcher {
  /** Whether it runs: without it nothing should be started. */
  readonly isThere: boolean;
  readonly #shell: ChildProcess;

  constructor(mark: string) {
    this.#shell = spawn('/bin/sh', ['-c', SCRIPT, 'orrery-watcher', `${MARK}=${mark}`], {
      env: { PATH: process.env['PATH'] ?? '/usr/bin:/bin' },
      cwd: '/',
      stdio: ['pipe', 'ignore', 'ignore'],
      detached: true,
    });
    this.isThere = this.#shell.pid !== undefined;
    this.#shell.on('error', () => undefined);
    this.#shell.stdin?.on('error', () => undefined);
    // Whoever waits for the family may have nothing else that keeps this process running: it does, until the family is gone.
    (this.#shell.stdin as Socket | null)?.unref();
  }

  /** Tells it the number of the group. Before that it knows the family by its mark alone. */
  watch(group: number): void {
    this.#shell.stdin?.write(`${group}\n`);
  }

  /** Ends it: the family is gone. */
  end(): void {
    this.#shell.stdin?.end(`${OVER}\n`);
    this.#shell.unref();
  }
}
