import { capability, defineAgent, startSystem } from 'orrery';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { agent, rejection, until } from '../fixtures/until.ts';

const hold = capability({
  id: 'guest.hold',
  description: 'Answers when it is let go',
  input: z.string(),
  output: z.string(),
});

const ROUNDS = 3;

const guest = () =>
  defineAgent({
    id: 'guest',
    name: 'GUEST',
    version: '1.0.0',
    description: 'Comes and goes',
    tier: 1,
  }).handle(hold, (text, ctx) => (text === 'wait' ? ctx.sleep(600_000).then(() => text) : text));

describe('Agents that are registered no more', () => {
  it('leave nothing behind: what waited for them is told, and their ids are free (F-01)', async () => {
    await using system = await startSystem({ agents: [agent('echo')] });
    for (let round = 0; round < ROUNDS; round += 1) {
      await system.start([guest()]);
      expect(await system.ask({ agent: 'guest', capability: hold }, `${round}`)).toBe(`${round}`);
      const cutOff = rejection(system.ask({ agent: 'guest', capability: hold }, 'wait'));
      const waiting = rejection(system.ask({ agent: 'guest', capability: hold }, 'wait'));
      await until('it is at work', async () => (await system.conservation()).inFlight === 2);
      system.registry.unregister('guest');
      expect([(await cutOff).code, (await waiting).code]).toEqual(['NOT_HERE', 'NOT_HERE']);
      await until('it is gone', async () => (await system.roster()).length === 1);
      expect((await rejection(system.ask({ agent: 'guest', capability: hold }, 'x'))).code).toBe(
        'AGENT_NOT_FOUND',
      );
    }
    expect(await system.conservation()).toMatchObject({ holds: true, inFlight: 0 });
  });
});
