import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { Correspondence, codesOf, idsOf } from '../fixtures/correspondence.ts';
import { times } from '../fixtures/effort.ts';
import { linesOf } from '../fixtures/lines-of.ts';
import { rejection, until } from '../fixtures/until.ts';

const ENVELOPES = times(2_000, 10_000);
const KILLS = 3;
/** What a death at full speed may cut off: one batch. */
const BATCH = 128;

const folder = mkdtempSync(join(tmpdir(), 'orrery-channels-'));
afterAll(() => rmSync(folder, { recursive: true }));

/** What arrived, in order: the envelope, and the life of the agent that got it. */
const arrivals = (file: string): { id: string; life: string }[] =>
  linesOf(file).map((line) => {
    const [id = '', life = ''] = line.split(' ');
    return { id, life };
  });

/** Sends all of them to an agent that dies again and again in the middle of them. */
async function writeUnderFire(name: string, kill: (team: Correspondence) => Promise<unknown>) {
  const file = join(folder, name);
  await using team = await Correspondence.start(
    [
      { id: 'mars', waitingCapacity: ENVELOPES },
      { id: 'venus', file, delivery: 'retry' },
    ],
    {
      supervision: {
        intensity: { maxRestarts: 10, withinMs: 60_000 },
        backOff: { firstMs: 1, maxMs: 1 },
      },
    },
  );
  const { id } = await team.open('mars', 'venus');
  const part = ENVELOPES / (KILLS + 1);
  for (let from = 0; from < ENVELOPES; from += part) {
    const before = arrivals(file).length;
    await team.write('mars', id, part, { from });
    if (from + part >= ENVELOPES) break;
    await until('some arrive', () => arrivals(file).length > before + 100);
    await kill(team);
  }
  const all = await team.settled('mars', ENVELOPES);
  expect(await team.channels('venus', (statuses) => statuses.includes('open'))).toMatchObject([
    { id, isResumed: true, isAccepted: true },
  ]);
  expect((await team.seen('mars')).channels).toMatchObject([{ id, status: 'open' }]);
  await until('everything is settled', async () => (await team.system.conservation()).inFlight === 0);
  expect(await team.system.conservation()).toMatchObject({ holds: true });
  const arrived = arrivals(file);
  return { all, arrived: arrived.map((one) => one.id), lives: new Set(arrived.map(({ life }) => life)).size };
}

describe(`${ENVELOPES.toLocaleString('en')} envelopes over a channel (C-37, N-3.4, N-3.7, N-P11)`, () => {
  it.each([
    ['thread is killed', 'kill', (team: Correspondence) => team.system.terminate('worker-2'), BATCH],
    ['actor dies', 'die', (team: Correspondence) => rejection(team.act('venus', 'die')), 1],
  ] as const)(
    'arrive in order, each once at the most, while the reader and its %s (N-E07)',
    async (_what, name, kill, cutOff) => {
      const { all, arrived, lives } = await writeUnderFire(name, kill);
      expect(lives).toBe(KILLS + 1);
      const order = idsOf('mars', ENVELOPES);
      const got = new Set(arrived);
      expect(arrived).toEqual(order.filter((id) => got.has(id)));
      const failed = all.filter(({ code }) => code !== 'sent');
      expect(codesOf(failed)).toEqual(failed.length === 0 ? [] : ['DELIVERY_FAILED']);
      expect(failed.length).toBeLessThanOrEqual(KILLS * cutOff);
      expect(
        failed.filter(({ details }) => (details as { mayHaveArrived: boolean }).mayHaveArrived !== true),
      ).toEqual([]);
      // Nothing is lost unsaid: what did not arrive is known, and what was said to have arrived did.
      const doubtful = new Set(failed.map(({ id }) => id));
      expect(order.filter((id) => !got.has(id) && !doubtful.has(id))).toEqual([]);
    },
  );
});

describe('A channel whose end dies (N-3.7, N-V01)', () => {
  it('reconnects though nothing is sent, when the thread or the actor of either end is gone', async () => {
    await using team = await Correspondence.start([{ id: 'mars' }, { id: 'venus' }]);
    const moves: string[] = [];
    await team.system.inspect(({ channelStatus, agentId, reason }) => {
      if (channelStatus === 'reconnecting') moves.push(`${agentId}: ${reason}`);
    });
    const { id } = await team.open('mars', 'venus');
    const lives = new Set<string>();
    let deaths = 0;
    const again = async (dead: 'mars' | 'venus') => {
      const left = dead === 'mars' ? 'venus' : 'mars';
      await until('it is open again', async () => {
        const { channels, life } = await team.seen(dead).catch(() => ({ channels: [], life: '' }));
        if (lives.has(life) || channels[0]?.status !== 'open') return false;
        lives.add(life);
        return channels[0].id === id && channels[0].isResumed;
      });
      expect(await team.channels(left, (all) => all.includes('open'))).toMatchObject([{ id }]);
      // What another thread does next may be heard of before this.
      deaths += 1;
      await until('it is told', () => moves.length >= deaths);
    };
    for (const agent of ['mars', 'venus']) lives.add((await team.seen(agent)).life);
    await team.system.terminate('worker-2');
    await again('venus');
    await team.system.terminate('worker-1');
    await again('mars');
    await rejection(team.act('venus', 'die'));
    await again('venus');
    await rejection(team.act('mars', 'exit'));
    await again('mars');
    await team.write('mars', id, 3);
    await team.write('venus', id, 3);
    await team.settled('mars', 3);
    await team.settled('venus', 3);
    expect([(await team.seen('mars')).arrived, (await team.seen('venus')).arrived]).toEqual([
      idsOf('venus', 3),
      idsOf('mars', 3),
    ]);
    expect(moves).toEqual([
      'mars: the thread at the other end died',
      'venus: the thread at the other end died',
      'mars: the actor at the other end is over',
      'venus: the thread at the other end died',
    ]);
  });

  it('is closed when who opened it comes back and accepts no channels', async () => {
    await using team = await Correspondence.start([{ id: 'mars', accepts: 'none' }, { id: 'venus' }]);
    await team.open('mars', 'venus');
    await team.system.terminate('worker-1');
    await team.channels('venus', (all) => all.length === 0);
    const closed = (await team.system.recentEvents()).findLast(
      ({ channelStatus }) => channelStatus === 'closed',
    );
    expect(closed).toMatchObject({ agentId: 'venus', reason: 'mars accepts no channels' });
    expect((await team.open('mars', 'venus')).status).toBe('open');
  });

  it.each([
    ['is stopped', (team: Correspondence) => team.system.stopAgent('venus')],
    [
      'is taken out of the registry',
      async (team: Correspondence) => team.system.registry.unregister('venus'),
    ],
    [
      'fails for good',
      async (team: Correspondence) => {
        for (let death = 0; death < 2; death++) await rejection(team.act('venus', 'die'));
      },
    ],
  ])('is closed when the agent at its other end %s, and rejects what waits', async (_what, end) => {
    await using team = await Correspondence.start([{ id: 'mars' }, { id: 'venus', listens: false }], {
      supervision: { intensity: { maxRestarts: 1, withinMs: 60_000 } },
    });
    const { id } = await team.open('mars', 'venus');
    await team.write('mars', id, 3);
    await end(team);
    expect(codesOf(await team.settled('mars', 3))).toEqual(['CHANNEL_CLOSED']);
    await team.channels('mars', (all) => all.length === 0);
  });

  it('is forgotten when both its ends die with one thread', async () => {
    await using team = await Correspondence.start([{ id: 'mars' }, { id: 'venus' }], { workers: 1 });
    await team.open('mars', 'venus');
    await team.system.terminate('worker-1');
    await until('both are back', async () =>
      (await team.system.roster()).every(({ restarts }) => restarts === 1),
    );
    expect([(await team.seen('mars')).channels, (await team.seen('venus')).channels]).toEqual([[], []]);
    expect((await team.open('mars', 'venus')).status).toBe('open');
  });

  it('has sent what a handler was called with, however long it lingers over it', async () => {
    await using team = await Correspondence.start([{ id: 'mars' }, { id: 'venus' }]);
    const { id } = await team.open('mars', 'venus');
    await team.write('mars', id, 1, { does: 'linger' });
    await team.settled('mars', 1);
    await team.system.terminate('worker-2');
    expect(codesOf(await team.settled('mars', 1))).toEqual(['sent']);
    await team.channels('venus', (all) => all.includes('open'));
  });
});
