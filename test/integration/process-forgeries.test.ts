import { startSystem, type System } from 'orrery';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { FORGERIES, forge, introduce } from '../fixtures/agents/forger.ts';
import { heard } from '../fixtures/agents/speaking.ts';
import { keepAsking } from '../fixtures/unrelated.ts';
import { agent, rejection, until } from '../fixtures/until.ts';

const FOLDER = new URL('../../runtime/', import.meta.url);
let system: System;

beforeAll(async () => {
  const profile = { id: 'witness', tier: 2, offers: [] };
  const witness = new URL(
    `../fixtures/agents/speaker.agent.ts?${encodeURIComponent(JSON.stringify(profile))}`,
    import.meta.url,
  );
  system = await startSystem({
    agents: [
      agent('forger', { isolation: 'process' as const, permissions: { read: [FOLDER] }, sandboxId: 'cell' }),
      agent('forger', {
        isolation: 'process' as const,
        permissions: { read: [FOLDER] },
        instances: ['free'],
        tier: 2 as const,
      }),
      { module: witness },
      agent('echo'),
    ],
    policies: { sandbox: { enforced: true, crossSandboxAllowList: [] } },
    supervision: { intensity: { maxRestarts: 100 }, backOff: { firstMs: 1, maxMs: 1 } },
  });
});
afterAll(() => system.stop());

const words = () => system.ask({ agent: 'witness', capability: heard }, undefined);

describe('A process that writes to its host what the runtime would not (F-06)', () => {
  it.each(FORGERIES)('is ended, and nobody else is: %s', async (forgery) => {
    const before = (await system.roster()).find(({ id }) => id === 'forger');
    const stopAsking = keepAsking(system);
    const { code, message } = await rejection(
      system.ask({ agent: 'forger', capability: forge }, forgery, { timeoutMs: 20_000 }),
    );
    expect(code).toBe('ACTOR_DIED');
    // Whoever calls without end loops as well: on a busy machine that may be found first.
    expect(message).toMatch(
      forgery === 'calls without end'
        ? /its process broke the protocol|an endless loop/
        : /its process broke the protocol/,
    );
    const after = await until('it is back', async () => {
      const row = (await system.roster()).find(({ id }) => id === 'forger');
      return row?.status === 'running' && row.restarts > (before?.restarts ?? 0) && row;
    });
    expect(after.pid).not.toBe(before?.pid);
    expect((await stopAsking()).codes).toEqual([]);
    expect(await words()).toEqual([]);
    expect((await system.conservation()).holds).toBe(true);
  });
});

describe('What a process says of itself', () => {
  it('makes no difference to who it is: the sender, tier and sandbox are those of its card', async () => {
    const told = await system.ask(
      { agent: 'free', capability: introduce },
      { to: 'witness', sender: 'system/host' },
    );
    expect(told).toMatchObject({ delivered: true });
    const [envelope] = await until('the witness hears it', async () => {
      const all = await words();
      return all.length > 0 && all;
    });
    expect(envelope).toMatchObject({
      sender: 'free',
      payload: { said: 'by system/host' },
      metadata: { tier: 2 },
    });
    expect(envelope?.metadata).not.toHaveProperty('sandboxId');
  });

  it('is judged by the sandbox that it was granted', async () => {
    const told = await system.ask(
      { agent: 'forger', capability: introduce },
      { to: 'witness', sender: 'witness' },
    );
    expect(told).toMatchObject({ delivered: false, errorCode: 'SANDBOX_VIOLATION' });
    expect(await words()).toEqual([]);
  });
});
