import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { startSystem } from 'orrery';
import { describe, expect, it } from 'vitest';
import { echoed } from '../fixtures/agents/echo.agent.ts';
import { whyNoBubblewrap } from '../fixtures/bubblewrap.ts';
import { childrenOf, isRunning } from '../fixtures/processes.ts';
import { agent, until } from '../fixtures/until.ts';
import { CONDITIONS } from '../fixtures/conditions.ts';

const HOST = fileURLToPath(new URL('../fixtures/orphan-host.ts', import.meta.url));

/** Runs a host; the numbers of its agents' processes, and what it prints on standard error. */
async function runHost(...args: string[]) {
  const host = spawn(process.execPath, [...CONDITIONS, HOST, ...args], {
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let errors = '';
  host.stderr.on('data', (chunk: Buffer) => {
    errors += chunk.toString();
  });
  const gone = once(host, 'exit');
  const [printed] = (await Promise.race([once(host.stdout, 'data'), gone.then(() => [])])) as [Buffer?];
  if (printed === undefined) throw new Error(`The host ended: ${errors}`);
  return { host, gone, pids: JSON.parse(printed.toString()) as number[] };
}

const areGone = (pids: readonly number[]): boolean => pids.every((pid) => !isRunning(pid));

describe('The processes of a host: idle, looping, and with processes of their own (F-06)', () => {
  it('end soon after it was killed with SIGKILL, with what has left its group and its parent', async () => {
    const wall = whyNoBubblewrap() === undefined ? ['bubblewrap'] : [];
    const { host, gone, pids } = await runHost('waits', ...wall);
    // In bubblewrap: its first process, the one in the namespace, and what has left.
    expect(pids).toHaveLength(wall.length === 0 ? 5 : 8);
    expect(pids.every(isRunning)).toBe(true);
    host.kill('SIGKILL');
    await gone;
    await until('they are gone', () => areGone(pids));
  }, 120_000);

  it.each(['exits', 'throws', 'stops'])(
    'end when it %s',
    async (ending) => {
      const { gone, pids } = await runHost(ending);
      await gone;
      await until('they are gone', () => areGone(pids));
    },
    120_000,
  );
});

describe('A system with processes', () => {
  it('leaves none behind when it stops, nor when it cannot be started', async () => {
    const before = childrenOf(process.pid);
    const isolation = 'process' as const;
    const system = await startSystem({
      agents: [agent('echo', { isolation }), agent('insider', { isolation })],
    });
    expect(childrenOf(process.pid)).toHaveLength(before.length + 2);
    await system.stop();
    expect(childrenOf(process.pid)).toEqual(before);
    const twice = startSystem({ agents: [agent('echo', { isolation }), agent('echo')] });
    await expect(twice).rejects.toThrow('an id that no other agent has');
    await until('they are gone', () => childrenOf(process.pid).length === before.length);
  });

  it('starts the process of a lazy agent with its first envelope', async () => {
    const before = childrenOf(process.pid);
    const system = await startSystem({
      agents: [agent('echo', { isolation: 'process' as const, lazy: true })],
    });
    await until('no process is left', () => childrenOf(process.pid).length === before.length);
    expect((await system.roster())[0]).toMatchObject({ place: 'relay', status: 'starting' });
    expect(await system.ask(echoed, { n: 1 })).toEqual({ n: 1 });
    expect(childrenOf(process.pid)).toHaveLength(before.length + 1);
    await system.stop();
  });

  it('gives its agents other processes when the thread that relays for them is ended', async () => {
    const system = await startSystem({ agents: [agent('echo', { isolation: 'process' as const })] });
    const [before] = await system.roster();
    await system.terminate('relay');
    expect(await system.ask(echoed, { n: 1 })).toEqual({ n: 1 });
    const [after] = await system.roster();
    expect(after).toMatchObject({ status: 'running', restarts: 1 });
    expect(after?.pid).not.toBe(before?.pid);
    await until('the former one is gone', () => areGone([before?.pid as number]));
    await system.stop();
  });
});
