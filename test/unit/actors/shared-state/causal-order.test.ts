import { describe, expect, it } from 'vitest';
import { CausalClock } from '../../../../actors/shared-state/causal-clock.ts';
import { GapQueue } from '../../../../actors/shared-state/causal-inbox.ts';
import type { SyncMessage } from '../../../../actors/shared-state/sync-message.ts';
import { resigned, SyncTeam, turns } from './sync-team.ts';

const textOf = (team: SyncTeam<never>, id: string): string => team.at(id).document.getText('text').toString();

/** `count` updates of `a`, each a letter at the end, on their way to `b` and to nobody else. */
async function typed(team: Awaited<ReturnType<typeof SyncTeam.of>>, letters: string): Promise<SyncMessage[]> {
  const text = team.at('a').document.getText('text');
  for (const letter of letters) text.insert(text.length, letter);
  await turns();
  const messages = team.hub.take('b', 'update');
  team.hub.held = [];
  return messages;
}

describe('CausalClock (C-05, N-9.4)', () => {
  const message = (vectorClock: Record<string, number>, session = 1, since: number | null = 0) => ({
    sourceAgentId: 'a',
    session,
    vectorClock,
    ...(since === null ? {} : { since }),
  });

  it('places an update after all that its source had applied', () => {
    const clock = new CausalClock('me', 1);
    clock.greet(message({ a: 1 }));
    expect(clock.place(message({ a: 1 }))).toBe('ready');
    expect(clock.place(message({ a: 2 }))).toBe('waiting');
    expect(clock.place(message({ a: 1, b: 1 }))).toBe('waiting');
    expect(clock.place(message({ a: 1, me: 9 }))).toBe('ready');
    clock.advance(message({ a: 1 }));
    expect(clock.place(message({ a: 1 }))).toBe('duplicate');
    expect(clock.toRecord()).toEqual({ me: 0, a: 1 });
  });

  it('takes over where a member that came back says it goes on, and nothing of its stay before', () => {
    const clock = new CausalClock('me', 1);
    clock.greet(message({ a: 5 }, 1, 0));
    clock.merge({ a: 5 }, { a: 1 });
    expect(clock.greet(message({ a: 0 }, 2, null))).toBe('new');
    expect(clock.toRecord()).toEqual({ me: 0, a: 5 });
    expect(clock.sessions()).toEqual({ me: 1 });
    expect(clock.greet(message({ a: 5 }, 2, 4))).toBe('known');
    expect(clock.place(message({ a: 5 }, 2, 4))).toBe('ready');
    expect(clock.greet(message({ a: 6 }, 1, 0))).toBe('replayed');
    expect(clock.place(message({ a: 6 }, 1, 0))).toBe('replayed');
  });

  it('learns its own count before it starts, and not after', () => {
    const clock = new CausalClock('me', 1);
    clock.merge({ me: 3 }, {});
    clock.start();
    clock.countOwn();
    clock.merge({ me: 9 }, {});
    expect([clock.since, clock.toRecord()]).toEqual([3, { me: 4 }]);
  });

  it('merges the later stay of a member, and in one stay the higher count', () => {
    const clock = new CausalClock('me', 1);
    clock.merge({ a: 5, b: 2, c: 1 }, { a: 2, b: 2 });
    clock.merge({ a: 9, b: 1 }, { a: 1, b: 2 });
    expect(clock.toRecord()).toEqual({ me: 0, a: 5, b: 2 });
    clock.merge({ a: 1 }, { a: 3 });
    expect(clock.toRecord()).toEqual({ me: 0, a: 1, b: 2 });
  });
});

describe('GapQueue (C-05)', () => {
  const waiting = (count: number, bytes = 10) =>
    ({
      sourceAgentId: 'a',
      vectorClock: { a: count },
      payload: new Uint8Array(bytes),
    }) as unknown as SyncMessage;

  it('drops the longest waiting beyond its number', () => {
    const gap = new GapQueue({ maxMessages: 2, maxBytes: 1e6 });
    expect([3, 2, 5].flatMap((count) => gap.hold(waiting(count)))).toEqual([waiting(3)]);
    expect([gap.size, gap.has(2), gap.has(3), gap.has(5)]).toEqual([2, true, false, true]);
  });

  it('drops the longest waiting beyond its bytes, in the end the newcomer itself', () => {
    const gap = new GapQueue({ maxMessages: 10, maxBytes: 3_000 });
    for (const count of [2, 3]) expect(gap.hold(waiting(count, 500))).toEqual([]);
    expect(gap.hold(waiting(4, 1_400)).map(({ vectorClock }) => vectorClock['a'])).toEqual([2]);
    expect(gap.hold(waiting(5, 9_000))).toHaveLength(3);
    expect([gap.size, gap.bytes]).toEqual([0, 0]);
  });

  it('gives out what fits, once', () => {
    const gap = new GapQueue({ maxMessages: 3, maxBytes: 1e6 });
    gap.hold(waiting(2));
    gap.hold(waiting(2));
    expect(gap.takeFirst(({ vectorClock }) => vectorClock['a'] === 2)).toEqual(waiting(2));
    expect(gap.takeFirst(() => true)).toBeUndefined();
    expect(gap.bytes).toBe(0);
  });
});

describe('Updates out of order (C-05, N-9.3, N-9.4)', () => {
  it('wait for those before them, however they come', async () => {
    const team = await SyncTeam.of(['a', 'b']);
    const [first, second, third] = await typed(team, 'xyz');
    team.hub.pass('b', third);
    team.hub.pass('b', second);
    expect(textOf(team as never, 'b')).toBe('');
    expect(team.at('b').counts().waiting.messages).toBe(2);
    team.hub.pass('b', first);
    expect(textOf(team as never, 'b')).toBe('xyz');
    expect(team.at('b').counts()).toMatchObject({
      applied: 3,
      waiting: { messages: 0, bytes: 0 },
      refused: {},
    });
    await team.pass(5_000);
    await team.close();
  });

  it('wait for what their source had from others, even where Yjs would take them', async () => {
    const team = await SyncTeam.of(['a', 'b', 'c']);
    const order: string[] = [];
    team.at('c').onUpdate(({ sourceAgentId }) => order.push(sourceAgentId));
    team.at('a').document.getMap('map').set('asked', true);
    await turns();
    const [question] = team.hub.take('c', 'update');
    await team.hub.deliverAll();
    team.at('b').document.getMap('other').set('answered', true);
    await turns();
    const [answer] = team.hub.take('c', 'update');
    expect(answer?.vectorClock).toEqual({ a: 1, b: 1, c: 0 });
    team.hub.pass('c', answer);
    expect(order).toEqual([]);
    team.hub.pass('c', question);
    expect(order).toEqual(['a', 'b']);
    await team.close();
  });

  it('are asked for by state vector when the missing one does not come in time', async () => {
    const team = await SyncTeam.of(['a', 'b'], { limits: { gapTimeoutMs: 700 } });
    const told = team.told('b').length;
    const [, second, third] = await typed(team, 'xyz');
    team.hub.pass('b', second);
    await team.pass(600);
    expect(team.told('b').slice(told)).toEqual([]);
    await team.pass(100);
    expect(team.told('b').slice(told)).toEqual(['state-asked', 'state-applied']);
    expect(textOf(team as never, 'b')).toBe('xyz');
    expect(team.at('b').getVectorClock()).toEqual({ a: 3, b: 0 });
    team.hub.pass('b', third);
    expect(team.refusals('b')).toEqual(['DUPLICATE a']);
    await team.pass(5_000);
    expect(team.told('b').filter((type) => type === 'state-asked')).toHaveLength(2);
    await team.close();
  });

  it('ask again while no answer comes, and not for ever', async () => {
    const team = await SyncTeam.of(['a', 'b'], { limits: { gapTimeoutMs: 700, heartbeatMs: 100_000 } });
    const told = team.told('b').length;
    const [, second] = await typed(team, 'xyz');
    team.hub.pass('b', second);
    for (let times = 0; times < 30; times++) {
      team.clock.advance(700);
      team.hub.held = [];
    }
    expect(team.told('b').slice(told)).toEqual(Array.from({ length: 5 }, () => 'state-asked'));
    await team.close();
  });

  it.each([
    ['in number', { maxGapMessages: 3 }],
    ['in bytes', { maxGapBytes: 1_900 }],
  ])(
    'wait in a queue that is bounded %s; what is dropped is told and asked for at once',
    async (_, limits) => {
      const team = await SyncTeam.of(['a', 'b'], { limits });
      team.clock.advance(3_000);
      const told = team.told('b').length;
      const messages = await typed(team, 'abcdefgh');
      for (const message of messages.slice(1)) team.hub.pass('b', message);
      const { waiting } = team.at('b').counts();
      expect(waiting.messages).toBe(3);
      expect(waiting.bytes).toBeLessThan(1_900);
      expect(
        team
          .told('b')
          .slice(told)
          .filter((type) => type === 'gap-dropped'),
      ).toHaveLength(4);
      expect(
        team
          .told('b')
          .slice(told)
          .filter((type) => type === 'state-asked'),
      ).toHaveLength(1);
      await team.hub.deliverAll();
      expect(textOf(team as never, 'b')).toBe('abcdefgh');
      expect(team.at('b').counts().waiting).toEqual({ messages: 0, bytes: 0 });
      await team.close();
    },
  );

  it('that were lost last show by the next sign of life', async () => {
    const team = await SyncTeam.of(['a', 'b']);
    await typed(team, 'xyz');
    await team.pass(9_000);
    expect(textOf(team as never, 'b')).toBe('');
    await team.pass(4_000);
    expect(textOf(team as never, 'b')).toBe('xyz');
    await team.close();
  });

  it('of a member that is gone are had from another that has them', async () => {
    const team = await SyncTeam.of(['a', 'b', 'c']);
    const text = team.at('a').document.getText('text');
    text.insert(0, 'x');
    await turns();
    team.hub.take('c', 'update');
    await team.hub.deliverAll();
    await team.at('a').close();
    await team.pass(13_000);
    expect(textOf(team as never, 'c')).toBe('x');
    await team.close();
  });

  it('and deletions that were lost show by the digest, when the counts say nothing', async () => {
    const team = await SyncTeam.of(['a', 'b']);
    const [message] = await typed(team, 'x');
    if (message === undefined) throw new Error('nothing was sent');
    team.hub.pass('b', message);
    team.at('a').document.getText('text').delete(0, 1);
    await turns();
    const [deletion] = team.hub.take('b', 'update');
    if (deletion === undefined) throw new Error('nothing was sent');
    // An update of this count has come, and it was another.
    team.hub.pass('b', resigned(deletion, { payload: message.payload, operationId: 'other' }));
    expect(team.at('b').getVectorClock()).toEqual(team.at('a').getVectorClock());
    expect(textOf(team as never, 'b')).toBe('x');
    await team.pass(13_000);
    expect(textOf(team as never, 'b')).toBe('');
    await team.close();
  });
});
