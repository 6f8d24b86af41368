import { startSystem, type System } from 'orrery';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { answerOdd, answerPlain, ODD_THROWS, ODD_VALUES, throwOdd } from '../fixtures/agents/odd.ts';
import { odd } from '../fixtures/agents/odd.agent.ts';
import { agent, rejection, until } from '../fixtures/until.ts';

const NEIGHBOUR = 'neighbour';
const supervision = { intensity: { maxRestarts: 100, withinMs: 60_000 } };

const WAYS = {
  'in a thread': () =>
    startSystem({
      agents: [agent('odd', { instances: ['odd', NEIGHBOUR] }), agent('echo')],
      workers: 2,
      supervision,
    }),
  inline: () =>
    startSystem({ agents: [odd, agent('odd', { instances: [NEIGHBOUR] }), agent('echo')], supervision }),
};

describe.each(Object.keys(WAYS) as (keyof typeof WAYS)[])('What nobody expects, %s (F-01)', (way) => {
  let system: System;

  beforeAll(async () => {
    system = await WAYS[way]();
  });
  afterAll(() => system.stop());

  const restarts = async () => (await system.roster()).find(({ id }) => id === 'odd')?.restarts ?? 0;
  const settled = async (): Promise<void> => {
    const counts = await until('nothing is in flight', async () => {
      const account = await system.conservation();
      return account.inFlight === 0 && account;
    });
    expect(counts.holds).toBe(true);
  };

  it.each(ODD_THROWS)('is a death like any other when it is thrown: %s', async (what) => {
    const before = await restarts();
    expect(await rejection(system.ask({ agent: 'odd', capability: throwOdd }, what))).toMatchObject({
      code: 'HANDLER_FAILED',
    });
    expect(await system.ask({ agent: NEIGHBOUR, capability: answerPlain }, 1)).toBe(1);
    await until('it is restarted', async () => (await restarts()) === before + 1);
    expect(await system.ask({ agent: 'odd', capability: answerPlain }, 2)).toBe(2);
    await settled();
  });

  it.each(ODD_VALUES)('is refused when it is answered, and all else goes on: %s', async (what) => {
    if (way === 'in a thread') {
      const asked = system.ask({ agent: 'odd', capability: answerOdd }, { what });
      expect(await rejection(asked)).toMatchObject({ code: 'NOT_SERIALISABLE' });
    }
    const many = Array.from({ length: 1_100 }, (_, n) =>
      system.ask({ agent: 'odd', capability: answerPlain }, n, { whenFull: 'park' }),
    );
    expect((await Promise.all(many)).reduce((sum, n) => sum + n, 0)).toBe((1_100 * 1_099) / 2);
    await settled();
  });

  it.each(ODD_VALUES)('ends in an outcome when it is sent on: %s', async (what) => {
    const input = { what, to: 'echo' };
    expect(await system.ask({ agent: 'odd', capability: answerOdd }, input)).toEqual({ told: true });
    await settled();
  });
});
