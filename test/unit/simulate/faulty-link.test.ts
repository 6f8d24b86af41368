import { describe, expect, it } from 'vitest';
import { CRDTSyncChannel } from '../../../actors/shared-state/crdt-sync-channel.ts';
import { InProcessHub } from '../../../actors/shared-state/in-process-hub.ts';
import { SyncMembership } from '../../../actors/shared-state/sync-membership.ts';
import { type Faults, FaultyLink, overLink, type SimulateOptions, simulate } from '../../../simulate.ts';
import { FakeClock } from '../../fixtures/fake-clock.ts';
import { seededRandom } from '../../fixtures/seeded-random.ts';
import { keysOf } from '../actors/shared-state/sync-team.ts';

const CHANNEL = 'plan';

/** What arrives of a thousand messages that are sent a millisecond apart. */
function arrivals(faults: ConstructorParameters<typeof FaultyLink>[1]) {
  const clock = new FakeClock();
  const link = new FaultyLink({ clock, random: seededRandom(1) }, faults);
  const came: number[] = [];
  for (let n = 0; n < 1_000; n++) {
    link.carry(n, (message) => came.push(message));
    clock.advance(1);
  }
  clock.advance(10_000);
  return { came, counts: link.counts };
}

const inOrder = (came: readonly number[]): boolean =>
  came.every((n, at) => at === 0 || n >= (came[at - 1] as number));

describe('FaultyLink (F-03)', () => {
  it('delays and reorders, and loses nothing unless it is told to', () => {
    const { came, counts } = arrivals({});
    expect(came.toSorted((a, b) => a - b)).toEqual(Array.from({ length: 1_000 }, (_, n) => n));
    expect(inOrder(came)).toBe(false);
    expect(counts).toMatchObject({ carried: 1_000, lost: 0, duplicated: 0 });
    expect(counts.overtaken).toBeGreaterThan(100);
  });

  it('keeps the order where it is told to', () => {
    const { came, counts } = arrivals({ keepsOrder: true, ms: [0, 100] });
    expect(inOrder(came)).toBe(true);
    expect(counts.overtaken).toBe(0);
  });

  it('loses and repeats about as often as it is told to', () => {
    const { came, counts } = arrivals({ loss: 0.2, duplication: 0.1 });
    expect(counts.lost).toBeGreaterThan(150);
    expect(counts.lost).toBeLessThan(250);
    expect(counts.duplicated).toBeGreaterThan(50);
    expect(counts.duplicated).toBeLessThan(110);
    expect(came).toHaveLength(counts.carried + counts.duplicated);
    expect(new Set(came).size).toBe(counts.carried);
  });

  it('lets nothing through while it is cut', () => {
    const clock = new FakeClock();
    const link = new FaultyLink({ clock, random: seededRandom(1) });
    const came: string[] = [];
    link.cut(100);
    link.carry('lost', (message) => came.push(message));
    clock.advance(101);
    link.carry('after', (message) => came.push(message));
    clock.advance(1_000);
    expect(came).toEqual(['after']);
    expect(link.counts.cut).toBe(1);
  });

  it('refuses probabilities that are none', () => {
    const deps = { clock: new FakeClock(), random: seededRandom(1) };
    expect(() => new FaultyLink(deps, { loss: 2 })).toThrow(/faults\.loss is 2/);
  });

  it('lets shared state be tested in virtual time: copies come to agree over a link that loses and repeats', async () => {
    const counts = { lost: 0, duplicated: 0, overtaken: 0 };
    const run: SimulateOptions['run'] = async (team, { link: newLink, sleep }) => {
      const hub = new InProcessHub();
      const membership = new SyncMembership();
      const link = newLink();
      const { seams } = await team.client();
      const channels: CRDTSyncChannel[] = [];
      for (const agentId of ['a', 'b', 'c']) {
        const { privateKey, publicKey } = keysOf(agentId);
        membership.join({ agentId, tier: 1, publicKey });
        const medium = overLink(hub.connect(agentId), link);
        const channel = await CRDTSyncChannel.open(
          { seams, medium, membership },
          { channelId: CHANNEL, agentId, privateKey },
        );
        channels.push(channel);
      }
      for (let n = 0; n < 30; n++) {
        const { document } = channels[n % 3] as CRDTSyncChannel;
        document.getMap('all').set(`${n}`, n);
        await sleep(20);
      }
      await sleep(120_000);
      for (const kind of Object.keys(counts) as (keyof typeof counts)[]) counts[kind] += link.counts[kind];
      const contents = channels.map(({ document }) => document.getMap('all').toJSON());
      for (const channel of channels) await channel.close();
      return contents;
    };
    for (let seed = 1; seed <= 10; seed++) {
      const faults: Faults = { link: { loss: 0.1, duplication: 0.1, ms: [1, 200] } };
      const { value, error } = await simulate({ agents: [], seed, faults, run });
      expect(error).toBeUndefined();
      const [a, b, c] = value as Record<string, number>[];
      expect(Object.keys(a ?? {})).toHaveLength(30);
      expect(b).toEqual(a);
      expect(c).toEqual(a);
    }
    for (const count of Object.values(counts)) expect(count).toBeGreaterThan(20);
  });
});
