import { describe, expect, it } from 'vitest';
import { A2AObservability } from '../../../../runtime/observe/observability.ts';
import { keysOf, resigned, SyncTeam, turns } from './sync-team.ts';

const textOf = (team: { at(id: string): { document: import('yjs').Doc } }, id: string): string =>
  team.at(id).document.getText('text').toString();

/** `a` and `b` in one channel, and an update of `a` on its way to `b`. */
async function withUpdate(limits = {}) {
  const team = await SyncTeam.of(['a', 'b'], { limits });
  team.at('a').document.getText('text').insert(0, 'one ');
  const [message] = team.hub.take('b', 'update');
  if (message === undefined) throw new Error('nothing was sent');
  const goOn = async () => {
    team.hub.pass('b', message);
    team.at('a').document.getText('text').insert(0, 'two ');
    await team.hub.deliverAll();
    return textOf(team, 'b');
  };
  return { team, message, goOn };
}

describe('What a sync channel skips (9.5: N-9.5, N-E12, N-V05, C-30, C-32)', () => {
  it('logs an update that does not decode with its source, skips it and applies the next', async () => {
    const { team, message, goOn } = await withUpdate();
    const observability = new A2AObservability();
    const c = await team.open('c', { observability });
    const garbage = resigned(message, { payload: Uint8Array.of(1, 2, 3, 255, 255), operationId: 'garbage' });
    const before = c.document.toJSON();
    // `c` took over the state when it joined, so that the next of `a` is its second.
    team.hub.pass('c', resigned(garbage, { vectorClock: { a: 2 } }));
    expect(c.document.toJSON()).toEqual(before);
    expect(team.refusals('c')).toEqual(['MALFORMED a']);
    expect(team.events.get('c')?.at(-1)).toMatchObject({
      sourceAgentId: 'a',
      errorCode: 'CRDT_DESERIALIZATION_FAILED',
      operationId: 'garbage',
      timestamp: team.clock.now(),
    });
    expect(observability.getRecentEvents()).toMatchObject([
      { type: 'error', sender: 'a', agentId: 'a', errorCode: 'CRDT_DESERIALIZATION_FAILED' },
    ]);
    expect(observability.getMetrics().errorCount).toBe(1);
    team.at('b').document.getText('text').insert(0, 'from b ');
    await team.hub.deliverAll();
    expect(textOf(team, 'c')).toBe('from b one ');
    expect(await goOn()).toContain('two ');
    await team.close();
  });

  it.each([
    ['nothing', undefined, ''],
    ['a text', 'update', ''],
    ['an empty object', {}, ''],
    ['a message without bytes', { sourceAgentId: 'a', kind: 'update', payload: 'AAEC' }, 'a'],
  ])('skips %s', async (_, arrived, source) => {
    const { team, goOn } = await withUpdate();
    team.hub.pass('b', arrived);
    expect(team.refusals('b')).toEqual([`MALFORMED ${source}`]);
    expect(await goOn()).toBe('two one ');
    await team.close();
  });

  it('skips a forged message, whichever part of it was changed', async () => {
    const { team, message, goOn } = await withUpdate();
    const payload = message.payload.slice();
    payload[payload.length - 3] = (payload.at(-3) as number) ^ 1;
    const forged = [
      { ...message, payload },
      { ...message, vectorClock: { a: 1, b: 1 } },
      { ...message, operationId: 'another' },
      { ...message, timestamp: message.timestamp + 1 },
      { ...message, signature: message.signature.slice(1) },
      { ...message, stateVector: new Uint8Array(1) },
      { ...message, session: message.session + 1 },
    ];
    for (const one of forged) team.hub.pass('b', one);
    expect(team.refusals('b')).toEqual(forged.map(() => 'FORGED a'));
    expect(team.events.get('b')?.at(-1)).toMatchObject({ errorCode: 'REFUSED', security: true });
    expect(textOf(team, 'b')).toBe('');
    expect(await goOn()).toBe('two one ');
    await team.close();
  });

  it('skips and counts what comes from outside, and from a member that was taken out', async () => {
    const { team, message, goOn } = await withUpdate();
    team.hub.pass('b', resigned(message, { sourceAgentId: 'x', vectorClock: { x: 1 } }));
    team.hub.pass('b', { ...message, sourceAgentId: 'x', vectorClock: { x: 1 } });
    expect(team.refusals('b')).toEqual(['NOT_A_MEMBER x', 'NOT_A_MEMBER x']);
    expect(team.at('b').counts().refused).toEqual({ NOT_A_MEMBER: 2 });
    expect(await goOn()).toBe('two one ');
    team.membership.leave('a');
    team.at('a').document.getText('text').insert(0, 'late ');
    await team.hub.deliverAll();
    expect(textOf(team, 'b')).toBe('two one ');
    expect(team.refusals('b').at(-1)).toBe('NOT_A_MEMBER a');
    await team.close();
  });

  it('applies a message that comes twice once, by its operation id and by its count', async () => {
    const { team, message, goOn } = await withUpdate();
    let applied = 0;
    team.at('b').onUpdate(() => {
      applied += 1;
    });
    for (let times = 0; times < 3; times++) team.hub.pass('b', message);
    team.hub.pass('b', resigned(message, { operationId: 'again' }));
    expect(applied).toBe(1);
    expect(team.refusals('b')).toEqual(['DUPLICATE a', 'DUPLICATE a', 'DUPLICATE a']);
    expect(team.events.get('b')?.at(-1)).not.toHaveProperty('errorCode');
    expect(await goOn()).toBe('two one ');
    await team.close();
  });

  it('applies no operation under another count again, and answers no message twice', async () => {
    const { team, message, goOn } = await withUpdate();
    team.hub.pass('b', message);
    team.hub.pass('b', resigned(message, { vectorClock: { a: 2 } }));
    const ask = resigned(message, { kind: 'ask', payload: Uint8Array.of(0), operationId: 'ask' });
    team.hub.held = [];
    for (let times = 0; times < 3; times++) team.hub.pass('b', ask);
    expect(team.hub.take('a', 'state')).toHaveLength(1);
    expect(team.refusals('b')).toEqual(['DUPLICATE a', 'DUPLICATE a', 'DUPLICATE a']);
    expect(await goOn()).toBe('two one ');
    await team.close();
  });

  it('skips what is replayed from an earlier stay of its source, and from another channel', async () => {
    const { team, message } = await withUpdate();
    team.hub.pass('b', message);
    team.hub.held = [];
    await team.at('a').close();
    await team.hub.deliverAll();
    await team.open('a');
    team.at('a').document.getText('text').insert(0, 'two ');
    await turns();
    const [second] = team.hub.take('b', 'update');
    if (second === undefined) throw new Error('nothing was sent');
    team.hub.pass('b', resigned(message, { operationId: 'old', vectorClock: { a: 9 } }));
    team.hub.pass('b', resigned(second, { operationId: 'other', channelId: 'other' }));
    expect(textOf(team, 'b')).toBe('one ');
    team.hub.pass('b', second);
    expect(textOf(team, 'b')).toBe('two one ');
    expect(team.refusals('b')).toEqual(['REPLAYED a', 'REPLAYED a']);
    expect(team.at('b').getVectorClock()).toEqual({ a: 2, b: 0 });
    await team.close();
  });

  it('skips what is too large, before it looks at it', async () => {
    const { team, message, goOn } = await withUpdate({ maxUpdateBytes: 1_000, maxPresenceBytes: 500 });
    team.hub.pass('b', { ...message, payload: new Uint8Array(1_001) });
    team.hub.pass('b', { ...message, kind: 'presence', payload: new Uint8Array(501) });
    team.hub.pass('b', { ...message, stateVector: new Uint8Array(1_001) });
    expect(team.refusals('b')).toEqual(['OVERSIZED a', 'OVERSIZED a', 'OVERSIZED a']);
    expect(await goOn()).toBe('two one ');
    await team.close();
  });

  it('skips changes under the Yjs client id of another member that is here', async () => {
    const { team, message, goOn } = await withUpdate();
    await team.open('c');
    await team.hub.deliverAll();
    const session = team.joinedAtMs.get('c') ?? 0;
    team.hub.pass(
      'b',
      resigned(message, { sourceAgentId: 'c', session, vectorClock: { c: 1 }, operationId: 'foreign' }),
    );
    expect(team.refusals('b')).toEqual(['FOREIGN c']);
    expect(textOf(team, 'b')).toBe('');
    expect(await goOn()).toBe('two one ');
    await team.close();
  });

  it('takes a state only as the answer to its own asking', async () => {
    const { team, message, goOn } = await withUpdate();
    team.hub.pass(
      'b',
      resigned(message, { kind: 'state', operationId: 's', sessions: {}, inReplyTo: 'made up' }),
    );
    expect(team.refusals('b')).toEqual(['UNASKED a']);
    expect(textOf(team, 'b')).toBe('');
    expect(await goOn()).toBe('two one ');
    await team.close();
  });

  it('asks the source for what an update builds on when it is not here, and is repaired', async () => {
    const { team } = await withUpdate();
    const { document } = team.at('a');
    document.getText('text').insert(4, 'two ');
    const [second] = team.hub.take('b', 'update');
    if (second === undefined) throw new Error('nothing was sent');
    team.hub.pass('b', resigned(second, { vectorClock: { a: 1, b: 0 } }));
    expect(team.refusals('b')).toEqual(['INCOMPLETE a']);
    expect(team.at('b').document.store.pendingStructs).toBeNull();
    await team.pass(2_000);
    expect(team.told('b').slice(-3)).toEqual(['message-refused', 'state-asked', 'state-applied']);
    expect(textOf(team, 'b')).toBe('one two ');
    await team.close();
  });

  it('goes on when a handler, a listener of the document or a listener of its events throws', async () => {
    const team = await SyncTeam.of(['a']);
    const b = await team.open('b', {
      onEvent: (event) => {
        team.events.get('b')?.push(event);
        throw new Error('listener');
      },
    });
    b.onUpdate(() => {
      throw new Error('handler');
    });
    b.document.getText('text').observe(() => {
      throw new Error('observer');
    });
    for (const word of ['one ', 'two ']) {
      team.at('a').document.getText('text').insert(0, word);
      await team.hub.deliverAll();
    }
    expect(textOf(team, 'b')).toBe('two one ');
    const failures = team.events.get('b')?.filter(({ type }) => type === 'handler-failed');
    expect(failures?.map(({ reason }) => reason)).toEqual(['observer', 'handler', 'observer', 'handler']);
    await team.close();
  });

  it('refuses a broadcast for another member, of no bytes, too large, malformed, or after closing', async () => {
    const team = await SyncTeam.of(['a', 'b'], { limits: { maxUpdateBytes: 100 } });
    const a = team.at('a');
    await expect(a.broadcast(new Uint8Array(2), 'b')).rejects.toMatchObject({ code: 'REFUSED' });
    await expect(a.broadcast({ no: 'bytes' }, 'a')).rejects.toMatchObject({
      code: 'CRDT_DESERIALIZATION_FAILED',
    });
    await expect(a.broadcast(new Uint8Array(101), 'a')).rejects.toMatchObject({ code: 'INVALID_PAYLOAD' });
    await expect(a.broadcast(Uint8Array.of(9, 9), 'a')).rejects.toMatchObject({
      code: 'CRDT_DESERIALIZATION_FAILED',
      details: { agentId: 'a' },
    });
    expect(a.counts().sent).toBe(0);
    expect(a.getVectorClock()).toEqual({ a: 0, b: 0 });
    await a.close();
    await expect(a.broadcast(new Uint8Array(2), 'a')).rejects.toMatchObject({ code: 'CHANNEL_CLOSED' });
    await team.close();
  });

  it('opens for members only, with limits in range', async () => {
    const team = await SyncTeam.of(['a']);
    const { CRDTSyncChannel } = await import('../../../../actors/shared-state/crdt-sync-channel.ts');
    const seams = { clock: team.clock, newId: () => 'x', random: () => 0.5 };
    const deps = { seams, medium: team.hub.connect('x'), membership: team.membership };
    const options = { channelId: 'plan', agentId: 'x', privateKey: keysOf('x').privateKey };
    await expect(CRDTSyncChannel.open(deps, options)).rejects.toMatchObject({ code: 'REFUSED' });
    await expect(team.open('y', { limits: { maxUpdateBytes: 0 } })).rejects.toMatchObject({
      code: 'INVALID_OPTIONS',
      details: { field: 'limits.maxUpdateBytes' },
    });
    await turns();
    await team.close();
  });
});
