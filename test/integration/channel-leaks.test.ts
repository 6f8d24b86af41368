import {
  type AgentChannel,
  capability,
  channelsOf,
  createSystem,
  defaultPolicies,
  defineAgent,
  type System,
  systemSeams,
} from 'orrery';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { z } from 'zod';
import type { Seams } from '../../runtime/protocol/seams.ts';
import { Grants } from '../../runtime/routing/grants.ts';
import { NodeSpawner } from '../../runtime/link/node-spawner.ts';
import { numbered } from '../fixtures/agents/corresponding.ts';
import { agent, until } from '../fixtures/until.ts';

const CYCLES = 1_000;
const HOST = 'system/host';
/** A timer that was left would not be over by itself while it is looked for. */
const LASTING = { openTimeoutMs: 600_000 };

/** The seams of a real system, with a count of the timers that have neither fired nor been cancelled. */
function countedSeams(): { seams: Seams; live: () => number } {
  const seams = systemSeams();
  const timers = new Set<object>();
  const { clock } = seams;
  const setTimer: typeof clock.setTimer = (delayMs, fire) => {
    const timer = {};
    timers.add(timer);
    const cancel = clock.setTimer(delayMs, () => {
      timers.delete(timer);
      fire();
    });
    return () => {
      timers.delete(timer);
      cancel();
    };
  };
  return { seams: { ...seams, clock: { ...clock, setTimer } }, live: () => timers.size };
}

async function start(seams: Seams, agents: Parameters<System['start']>[0]): Promise<System> {
  const spawner = new NodeSpawner(new URL('../../worker.ts', import.meta.url));
  return createSystem(
    { seams, spawner, policies: defaultPolicies(), workerOptions: {} },
    { agents, workers: 1 },
  );
}

/** Opens, writes once each way, and closes at alternating ends. */
async function cycles(system: System, remote: string, ends: AgentChannel[]): Promise<void> {
  for (let n = 0; n < CYCLES; n++) {
    const channel = await system.channels.openChannel(HOST, remote, LASTING);
    const got = new Promise((resolve) => channel.onMessage(resolve));
    await channel.send(numbered(channel, n));
    if (ends.length > 0) await (ends.at(-1) as AgentChannel).close();
    else await got.then(() => channel.close());
    while (channel.status !== 'closed') await new Promise((resolve) => setImmediate(resolve));
  }
}

afterEach(() => vi.restoreAllMocks());

describe('A thousand channels opened and closed (C-37, N-3.3)', () => {
  it('leave no channel, timer, grant or envelope within a thread', async () => {
    const held = vi.spyOn(Grants.prototype, 'hold');
    const { seams, live } = countedSeams();
    const ends: AgentChannel[] = [];
    const reader = defineAgent({
      id: 'reader',
      name: 'R',
      version: '1.0.0',
      description: '',
      tier: 2,
    }).onChannel((channel) => {
      ends.push(channel);
      channel.onMessage(() => undefined);
    }, LASTING);
    await using system = await start(seams, [reader]);
    await system.channels.onChannel(() => undefined);
    const before = live();
    await cycles(system, 'reader', ends);
    expect(ends.map(({ status }) => status)).toEqual(Array.from({ length: CYCLES }, () => 'closed'));
    expect(system.channels.listChannels()).toEqual([]);
    expect(held).not.toHaveBeenCalled();
    await until('no timer is left of them', () => live() <= before);
    expect(await system.conservation()).toMatchObject({ inFlight: 0, holds: true });
  });

  it('leave no channel, timer, ask or envelope across threads', async () => {
    const { seams, live } = countedSeams();
    const system = await start(seams, [agent('replier')]);
    try {
      await system.channels.openChannel(HOST, 'replier').then((channel) => channel.close());
      const before = live();
      await cycles(system, 'replier', []);
      expect(system.channels.listChannels()).toEqual([]);
      const open = capability({ id: 'replier.open', description: '', input: z.undefined(), output: z.int() });
      await until('none is left there', async () => (await system.ask(open, undefined)) === 0);
      await until('no timer is left of them', () => live() <= before);
      expect(await system.conservation()).toMatchObject({ inFlight: 0, holds: true });
    } finally {
      // An ask or a wait for room that was left would keep it from coming to rest.
      await system.stop({ drainMs: 1_000_000 });
    }
  });
});

describe('Two agents that wait for each other', () => {
  it('go on: what comes over a channel is taken between, by who waits for its sender', async () => {
    const ping = capability({ id: 'ping', description: '', input: z.undefined(), output: z.string() });
    const go = capability({ id: 'go', description: '', input: z.undefined(), output: z.string() });
    const begun = Promise.withResolvers<void>();
    const define = (id: string) => defineAgent({ id, name: id, version: '1.0.0', description: '', tier: 2 });
    const one = define('one')
      .handle(ping, () => 'pong')
      .handle(go, async (_, ctx) => {
        const channel = await channelsOf(ctx).openChannel('other');
        const asked = channel.send(numbered(channel, 0));
        await begun.promise;
        await channel.send(numbered(channel, 1));
        await asked;
        return 'gone';
      });
    const other = define('other').onChannel((channel) => {
      channel.onMessage(async ({ id }, ctx) => {
        if (id !== 'one-0') return;
        begun.resolve();
        await ctx.ask({ agent: 'one', capability: ping }, undefined);
      });
    });
    await using system = await start(systemSeams(), [one, other]);
    expect(await system.ask(go, undefined, { timeoutMs: 20_000 })).toBe('gone');
  });
});
