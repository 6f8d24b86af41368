import { startSystem, loadPolicies } from 'orrery';
import { describe, expect, it } from 'vitest';
import { add, work } from '../fixtures/agents/living.ts';
import { agent, rejection, until } from '../fixtures/until.ts';
import { systemSeams } from '../../runtime/protocol/system-seams.ts';
import { createSystem } from '../../runtime/system/create-system.ts';
import type { System } from '../../runtime/system/system.ts';
import type { SystemOptions } from '../../runtime/system/system-options.ts';
import type { ControlOrder } from '../../runtime/thread/control-protocol.ts';
import { NodeSpawner } from '../../runtime/link/node-spawner.ts';
import type { Port } from '../../runtime/link/port.ts';

const WORKER = new URL('../../worker.ts', import.meta.url);

/** A system in which the embedder's thread hears of no message of its control thread for which `isLost` says so. */
async function systemWithLossyControl(
  isLost: (message: ControlOrder) => boolean,
  options: SystemOptions,
): Promise<System> {
  const spawner = new NodeSpawner(WORKER);
  const spawn = spawner.spawn.bind(spawner);
  // The one thread that the embedder's starts is the control thread.
  spawner.spawn = (...started) => {
    const spawned = spawn(...started);
    return { ...spawned, port: lossy(spawned.port, isLost) };
  };
  return createSystem(
    { seams: systemSeams(), spawner, policies: await loadPolicies(), workerOptions: {} },
    options,
  );
}

const lossy = (port: Port, isLost: (message: ControlOrder) => boolean): Port => ({
  ...port,
  onMessage: (listener) =>
    port.onMessage((message) => {
      if (!isLost(message as ControlOrder)) listener(message);
    }),
});

const living = (...instances: string[]) => agent('living', { instances });
const to = (name: string) => ({ agent: name, capability: add });

describe('A thread that missed a change of the table', () => {
  it('has the whole table sent when it hears of the next one, and loses nothing meanwhile', async () => {
    let loses = false;
    let isHeldBack = false;
    const wholes: string[] = [];
    const system = await systemWithLossyControl(
      ({ t }) => {
        if (t === 'whole-table') wholes.push(t);
        return (loses && t === 'table') || (isHeldBack && t === 'whole-table');
      },
      { agents: [living('first')] },
    );
    loses = true;
    await system.start([living('missed')]);
    expect((await rejection(system.ask(to('missed'), 1))).code).toBe('AGENT_NOT_FOUND');
    loses = false;
    // The answer to the first request is lost as well; it is asked again.
    isHeldBack = true;
    await system.start([living('next')]);
    await until('the answer is lost', () => wholes.length > 0);
    isHeldBack = false;
    const asks = [system.ask(to('missed'), 1), system.ask(to('next'), 2), system.ask(to('first'), 3)];
    expect((await Promise.all(asks)).map(({ self, count }) => [self, count])).toEqual([
      ['missed', 1],
      ['next', 2],
      ['first', 3],
    ]);
    const states = (await system.recentEvents(10_000)).filter(({ type }) => type === 'router-state');
    expect(states.filter(({ place }) => place === 'host').map(({ reason }) => reason)).toEqual([
      'ready',
      'syncing',
      'ready',
    ]);
    expect(new Set(states.map(({ place }) => place))).toEqual(new Set(['host', 'worker-1', 'worker-2']));
    // Each time that it is late it is asked for again.
    expect(wholes.length).toBeGreaterThan(1);
    await system.stop();
  });
});

describe('While a system stops', () => {
  it('takes nothing new from its embedder, and goes on with what its agents have in hand', async () => {
    const system = await startSystem({ agents: [living('one'), living('other')] });
    const states: unknown[] = [];
    await system.inspect(({ type, place, reason }) => {
      if (type === 'router-state') states.push(`${place} ${reason}`);
    });
    const working = system.ask({ agent: 'one', capability: work }, { other: 'other', times: 40 });
    await until('it works', async () => (await system.ask(to('other'), 0)).count > 1);
    const stopping = system.stop({ drainMs: 10_000 });
    expect((await rejection(system.ask(to('other'), 1))).code).toBe('SYSTEM_STOPPED');
    expect(system.tell(to('other'), 1)).toMatchObject({ delivered: false, errorCode: 'SYSTEM_STOPPED' });
    expect(await system.tellWhenRoom('other', 1)).toMatchObject({ errorCode: 'SYSTEM_STOPPED' });
    await expect(working).resolves.toBeGreaterThan(0);
    await stopping;
    expect(states.sort()).toEqual(['host draining', 'worker-1 draining', 'worker-2 draining']);
  });

  it('has a thread that takes the place of a dead one drain, too', async () => {
    const system = await startSystem({ agents: [living('one'), living('other', 'third')] });
    const places = new Map((await system.roster()).map(({ id, place }) => [id, place as string]));
    const working = rejection(
      system.ask({ agent: 'other', capability: work }, { other: 'third', times: 100_000 }),
    );
    await until('it works', async () => (await system.ask(to('third'), 0)).count > 1);
    // However long the next thread takes to start, what is in hand lasts until it drains.
    const stopping = system.stop({ drainMs: 60_000 });
    await system.terminate(places.get('one') as string);
    // What the dead thread remembered is gone with it.
    await until('the next thread drains', async () => {
      const events = await system.recentEvents(10_000);
      const states = events.filter(
        ({ type, place }) => type === 'router-state' && place === places.get('one'),
      );
      return states.map(({ reason }) => reason).join() === 'ready,draining';
    });
    await system.terminate(places.get('other') as string);
    await stopping;
    await working;
  });
});
