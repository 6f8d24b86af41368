import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { Listening, type Network } from './peer-order.ts';

/** Who is at the other end: a bare program, or a system of ours. */
export type PeerKind = 'bare' | 'node';

const MODULES: Readonly<Record<PeerKind, URL>> = {
  bare: new URL('./bare-peer.ts', import.meta.url),
  node: new URL('./node-peer.ts', import.meta.url),
};

/** The other end, in a process of its own, which ends when its input does. */
export interface PeerProcess extends Listening {
  kill(): Promise<void>;
  close(): Promise<void>;
}

export async function startPeer(kind: PeerKind, network: Network): Promise<PeerProcess> {
  const args = [
    ...process.execArgv,
    ...profiling(kind),
    fileURLToPath(MODULES[kind]),
    JSON.stringify(network),
  ];
  const child = spawn(process.execPath, args, { stdio: ['pipe', 'pipe', 'inherit'] });
  const listening = Listening.parse(JSON.parse(await firstLineOf(child)));
  const gone = once(child, 'exit');
  return {
    ...listening,
    kill: async () => {
      child.kill('SIGKILL');
      await gone;
    },
    close: async () => {
      child.stdin?.end();
      await gone;
    },
  };
}

/** `BENCH_PROFILE` names a folder: what the other ends spend their time on is written there. */
function profiling(kind: PeerKind): readonly string[] {
  const folder = process.env['BENCH_PROFILE'];
  return folder === undefined ? [] : ['--cpu-prof', '--cpu-prof-dir', `${folder}/${kind}`];
}

async function firstLineOf(child: ChildProcess): Promise<string> {
  if (child.stdout === null) throw new Error('The other end has no output');
  for await (const line of createInterface({ input: child.stdout })) return line;
  throw new Error('The other end has ended before it listened');
}
