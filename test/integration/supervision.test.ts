import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startSystem, type System } from 'orrery';
import { afterAll, describe, expect, it } from 'vitest';
import { act, finish } from '../fixtures/agents/member.ts';
import { MOOD, mood } from '../fixtures/agents/moody.ts';
import { agent, rejection, until } from '../fixtures/until.ts';

type Options = Parameters<typeof startSystem>[0];

async function withSystem(options: Options, run: (system: System) => Promise<void>): Promise<void> {
  const system = await startSystem(options);
  try {
    await run(system);
  } finally {
    await system.stop();
  }
}

const stateOf = async (system: System, id: string): Promise<string> => {
  const row = (await system.roster()).find((one) => one.id === id);
  return `${row?.status}, ${row?.restarts}`;
};
const becomes = (system: System, id: string, state: string): Promise<unknown> =>
  expect.poll(() => stateOf(system, id), { timeout: 100_000 }).toBe(state);

/** Which life of the member answers. */
const life = (system: System, id: string): Promise<string> =>
  system.ask({ agent: id, capability: act }, 'answer');
const crash = (system: System, id: string) => rejection(system.ask({ agent: id, capability: act }, 'crash'));

/** One member a worker: `a` and `c` share the first. */
const members = [
  agent('member', { instances: ['a'] }),
  agent('member', { instances: ['b'] }),
  agent('member', { instances: ['c'] }),
];

/** Has an agent begin on something that takes long; `end` is how it is cut off. */
async function inHandOf(system: System, agentId: string): Promise<{ end: ReturnType<typeof rejection> }> {
  const begun = Promise.withResolvers<void>();
  const options = { onProgress: () => begun.resolve() };
  const end = rejection(system.ask({ agent: agentId, capability: act }, 'wait', options));
  await begun.promise;
  return { end };
}

describe('A group of agents', () => {
  it('one for all: each death restarts all; what waits for them is answered by their next lives', () =>
    withSystem(
      {
        agents: members,
        supervision: { groups: [{ name: 'all', agents: ['a', 'b'], strategy: 'one-for-all' }] },
      },
      async (system) => {
        const [one, other, outside] = await Promise.all(['a', 'b', 'c'].map((id) => life(system, id)));
        const inHand = await inHandOf(system, 'b');
        const behind = life(system, 'b');
        expect((await crash(system, 'a')).code).toBe('HANDLER_FAILED');
        expect(await inHand.end).toMatchObject({
          code: 'ACTOR_DIED',
          message: expect.stringContaining('its group'),
        });
        expect(await behind).not.toBe(other);
        expect(await life(system, 'a')).not.toBe(one);
        expect(await life(system, 'c')).toBe(outside);
        await becomes(system, 'a', 'running, 1');
        await becomes(system, 'b', 'running, 1');
        await until(
          'what was in hand is dead-lettered',
          async () => (await system.deadLetters()).length === 2,
        );
      },
    ));

  it('rest for one: a death restarts those that were started later', () =>
    withSystem(
      {
        agents: members,
        supervision: { groups: [{ name: 'rest', agents: ['a', 'b', 'c'], strategy: 'rest-for-one' }] },
      },
      async (system) => {
        const first = await life(system, 'a');
        await crash(system, 'b');
        await becomes(system, 'b', 'running, 1');
        await becomes(system, 'c', 'running, 1');
        expect(await stateOf(system, 'a')).toBe('running, 0');
        expect(await life(system, 'a')).toBe(first);
      },
    ));

  it('one for all: the end of one thread restarts those in another, too', () =>
    withSystem(
      {
        agents: members,
        supervision: { groups: [{ name: 'all', agents: ['a', 'b'], strategy: 'one-for-all' }] },
      },
      async (system) => {
        const other = await life(system, 'b');
        await system.terminate('worker-1');
        await becomes(system, 'a', 'running, 1');
        await becomes(system, 'b', 'running, 1');
        expect(await life(system, 'b')).not.toBe(other);
      },
    ));

  it('fails as a whole when it is restarted too often: what waits for anybody in it is dead-lettered', () =>
    withSystem(
      {
        agents: members,
        supervision: {
          groups: [
            { name: 'all', agents: ['a', 'b'], strategy: 'one-for-all', intensity: { maxRestarts: 0 } },
          ],
        },
      },
      async (system) => {
        const inHand = await inHandOf(system, 'b');
        const behind = rejection(life(system, 'b'));
        await crash(system, 'a');
        expect((await inHand.end).code).toBe('ACTOR_DIED');
        expect((await behind).code).toBe('SUPERVISOR_GAVE_UP');
        await becomes(system, 'a', 'failed, 0');
        await becomes(system, 'b', 'failed, 0');
        expect(await stateOf(system, 'c')).toBe('running, 0');
      },
    ));
});

describe('An error that nobody catches, in a worker thread', () => {
  it('ends the one actor that is at work, and nobody else', () =>
    withSystem({ agents: members }, async (system) => {
      const neighbour = await life(system, 'c');
      const crashed = await rejection(system.ask({ agent: 'a', capability: act }, 'crash later'));
      expect(crashed).toMatchObject({
        code: 'ACTOR_DIED',
        message: expect.stringContaining('in a callback'),
      });
      await becomes(system, 'a', 'running, 1');
      expect(await life(system, 'c')).toBe(neighbour);
      expect(
        (await system.recentEvents()).some(
          ({ type, reason }) => type === 'error' && reason === 'in a callback',
        ),
      ).toBe(true);
    }));
});

describe('An agent that does not come back', () => {
  it('because it is temporary has its mail dead-lettered with NOT_HERE', () =>
    withSystem({ agents: [agent('temporary-member')] }, async (system) => {
      const crashed = crash(system, 'temporary');
      const behind = rejection(life(system, 'temporary'));
      expect((await crashed).code).toBe('HANDLER_FAILED');
      expect((await behind).code).toBe('NOT_HERE');
      await becomes(system, 'temporary', 'stopped, 0');
      await system.restart('temporary');
      expect(await life(system, 'temporary')).toBeTypeOf('string');
    }));

  it('because its logic came to its end and it is transient, likewise; the last envelope is handled', () =>
    withSystem({ agents: [agent('transient-ender')] }, async (system) => {
      await system.ask({ agent: 'transient', capability: finish }, undefined);
      await until('it has ended', async () => (await stateOf(system, 'transient')) === 'stopped, 0');
      expect((await rejection(system.ask({ agent: 'transient', capability: finish }, undefined))).code).toBe(
        'NOT_HERE',
      );
    }));
});

describe('An agent whose logic comes to its end', () => {
  it('begins again if it is permanent', () =>
    withSystem({ agents: [agent('ender')], supervision: { backOff: { firstMs: 1 } } }, async (system) => {
      for (const restarts of [1, 2, 3]) {
        await system.ask({ agent: 'ender', capability: finish }, undefined);
        await becomes(system, 'ender', `running, ${restarts}`);
      }
    }));
});

describe('An agent whose module loads no more when its thread is replaced', () => {
  const folder = mkdtempSync(join(tmpdir(), 'orrery-mood-'));
  const file = join(folder, 'mood');
  afterAll(() => rmSync(folder, { recursive: true }));

  it.each([
    ['throws', 'not today'],
    ['exits', 'its thread died while it was loaded'],
  ])('because it %s fails, and is visible; its neighbours are back', async (todays, reason) => {
    process.env[MOOD] = file;
    writeFileSync(file, 'good');
    await withSystem(
      { agents: [agent('moody'), agent('echo'), agent('member', { instances: ['neighbour'] })] },
      async (system) => {
        expect(await system.ask(mood, undefined)).toBe('fine');
        writeFileSync(file, todays);
        await system.terminate('worker-1');
        expect(await life(system, 'neighbour')).toBeTypeOf('string');
        expect((await rejection(system.ask(mood, undefined))).code).toBe('SUPERVISOR_GAVE_UP');
        const row = (await system.roster()).find(({ id }) => id === 'moody');
        expect(row).toMatchObject({ status: 'failed', lastError: expect.stringContaining(reason) });
      },
    );
  });
});
