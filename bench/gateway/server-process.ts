import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { Listening, type ServerOrder } from './server-order.ts';

/** Who serves: the published SDK on express, or a system of ours. */
export type ServerKind = 'sdk' | 'orrery';

const MODULES: Readonly<Record<ServerKind, URL>> = {
  sdk: new URL('./sdk-server.ts', import.meta.url),
  orrery: new URL('./orrery-server.ts', import.meta.url),
};

/** A server in a process of its own, which ends when its input does. */
export interface ServerProcess {
  readonly url: string;
  close(): Promise<void>;
}

export async function startServer(kind: ServerKind, order: ServerOrder = {}): Promise<ServerProcess> {
  const args = [...process.execArgv, ...profiling(kind), fileURLToPath(MODULES[kind]), JSON.stringify(order)];
  const child = spawn(process.execPath, args, { stdio: ['pipe', 'pipe', 'inherit'] });
  const url = await firstLineOf(child);
  return {
    url: Listening.parse(JSON.parse(url)).url,
    close: async () => {
      const gone = once(child, 'exit');
      child.stdin?.end();
      await gone;
    },
  };
}

/** `BENCH_PROFILE` names a folder: what the servers spend their time on is written there. */
function profiling(kind: ServerKind): readonly string[] {
  const folder = process.env['BENCH_PROFILE'];
  return folder === undefined ? [] : ['--cpu-prof', '--cpu-prof-dir', `${folder}/${kind}`];
}

async function firstLineOf(child: ChildProcess): Promise<string> {
  if (child.stdout === null) throw new Error('The server has no output');
  for await (const line of createInterface({ input: child.stdout })) return line;
  throw new Error('The server ended before it listened');
}
