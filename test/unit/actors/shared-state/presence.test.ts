import { describe, expect, it } from 'vitest';
import { encodeAwarenessUpdate } from 'y-protocols/awareness';
import { resigned, SyncTeam, turns } from './sync-team.ts';

/** Who is seen at a member's end, by Yjs client id. */
const seenAt = (team: SyncTeam<never>, id: string) => Object.fromEntries(team.at(id).awareness.getStates());

describe('Awareness in a sync channel', () => {
  it('shows every member to every other, late joiners included', async () => {
    const team = await SyncTeam.of(['a', 'b']);
    team.at('a').awareness.setLocalStateField('doing', 'planning');
    await team.hub.deliverAll();
    await team.open('c');
    const [a, b, c] = team.docs.map(({ clientID }) => clientID) as [number, number, number];
    const expected = { [a]: { doing: 'planning' }, [b]: {}, [c]: {} };
    for (const id of ['a', 'b', 'c']) expect(seenAt(team as never, id)).toEqual(expected);
    team.at('a').awareness.setLocalStateField('doing', 'resting');
    await team.hub.deliverAll();
    expect(seenAt(team as never, 'c')[a]).toEqual({ doing: 'resting' });
    await team.close();
  });

  it('removes a member that closes, and one that is taken out', async () => {
    const team = await SyncTeam.of(['a', 'b', 'c']);
    const [, , own] = team.docs.map(({ clientID }) => clientID);
    await team.at('a').close();
    await team.hub.deliverAll();
    team.membership.leave('b');
    expect(Object.keys(seenAt(team as never, 'c'))).toEqual([`${own}`]);
    expect(team.told('c').filter((type) => type === 'member-left')).toHaveLength(2);
    await team.close();
  });

  it('removes a member that goes silent, shows it again when it is heard, and keeps one that only lives', async () => {
    const team = await SyncTeam.of(['a', 'b', 'c']);
    const [a, b] = team.docs.map(({ clientID }) => clientID) as [number, number];
    for (let beats = 0; beats < 5; beats++) {
      team.clock.advance(10_000);
      await turns();
      team.hub.held = team.hub.held.filter(({ message }) => message.sourceAgentId !== 'a');
      await team.hub.deliverAll();
    }
    expect(seenAt(team as never, 'c')).not.toHaveProperty(`${a}`);
    expect(seenAt(team as never, 'c')).toHaveProperty(`${b}`);
    expect(team.events.get('c')?.filter(({ type }) => type === 'member-silent')).toMatchObject([
      { sourceAgentId: 'a' },
    ]);
    await team.pass(10_000);
    expect(seenAt(team as never, 'c')).toHaveProperty(`${a}`);
    await team.close();
  });

  it('takes a state only from the member that it belongs to', async () => {
    const team = await SyncTeam.of(['a', 'b', 'c']);
    const [a] = team.docs.map(({ clientID }) => clientID) as [number];
    team.at('b').awareness.setLocalStateField('x', 1);
    await turns();
    const [message] = team.hub.take('c', 'presence');
    if (message === undefined) throw new Error('nothing was sent');
    const { awareness } = team.at('a');
    awareness.setLocalStateField('forged', true);
    const payload = encodeAwarenessUpdate(awareness, [a]);
    team.hub.held = [];
    team.hub.pass('c', resigned(message, { payload, operationId: 'f' }));
    team.hub.pass('c', resigned(message, { payload: Uint8Array.of(1, 2, 255), operationId: 'g' }));
    expect(team.refusals('c')).toEqual(['FOREIGN b', 'MALFORMED b']);
    expect(seenAt(team as never, 'c')[a]).toEqual({});
    await team.close();
  });

  it('goes on when a listener throws', async () => {
    const team = await SyncTeam.of(['a', 'b']);
    const [a] = team.docs.map(({ clientID }) => clientID) as [number];
    team.at('b').awareness.on('update', () => {
      throw new Error('listener');
    });
    team.at('a').awareness.setLocalStateField('x', 1);
    await team.hub.deliverAll();
    await team.pass(25_000);
    expect(seenAt(team as never, 'b')[a]).toEqual({ x: 1 });
    expect(new Set(team.refusals('b'))).toEqual(new Set());
    expect(team.told('b')).toContain('handler-failed');
    expect(team.told('a')).not.toContain('member-silent');
    await team.close();
  });

  it('tells time by the injected clock only', async () => {
    const team = await SyncTeam.of(['a']);
    const { _checkInterval: interval } = team.at('a').awareness;
    expect((interval as { _destroyed?: boolean })._destroyed).toBe(true);
    expect(team.clock.pending).toBeGreaterThan(0);
    await team.close();
    expect(team.clock.pending).toBe(0);
  });
});
