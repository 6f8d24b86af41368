import { describe, expect, it } from 'vitest';
import * as Y from 'yjs';
import { InMemoryUpdateLog } from '../../../../actors/shared-state/update-log.ts';
import { change, contentOf } from '../../../property/arbitraries/crdt-sync-message.ts';
import { SyncTeam, turns } from './sync-team.ts';

const textOf = (doc: Y.Doc): string => doc.getText('text').toString();

describe('Joining a sync channel (N-9.2, N-9.3)', () => {
  it('gives a late joiner the state, and counts what it holds', async () => {
    const team = await SyncTeam.of(['a', 'b']);
    change(team.at('a').document, { type: 'insert', at: 0, text: 'one two' });
    change(team.at('a').document, { type: 'delete', at: 0, length: 4 });
    await team.hub.deliverAll();
    change(team.at('b').document, { type: 'set', key: 'a', value: 1 });
    await team.hub.deliverAll();
    const states: string[] = [];
    const opening = team.opening('c');
    await turns();
    await team.hub.deliverAll();
    const c = await opening;
    c.onUpdate(({ sourceAgentId }) => states.push(sourceAgentId));
    expect(contentOf(c.document)).toEqual(contentOf(team.at('a').document));
    expect(c.getVectorClock()).toEqual({ a: 2, b: 1, c: 0 });
    expect(c.counts()).toMatchObject({ applied: 0, states: 1, sent: 0 });
    change(team.at('a').document, { type: 'push', value: 3 });
    await team.hub.deliverAll();
    expect(states).toEqual(['a']);
    expect(contentOf(c.document)).toEqual(contentOf(team.at('a').document));
    await team.close();
  });

  it('sends what it brings along, deletions included, once it has the state of the others', async () => {
    const team = await SyncTeam.of(['a', 'b']);
    change(team.at('a').document, { type: 'insert', at: 0, text: 'shared' });
    await team.hub.deliverAll();
    const document = new Y.Doc();
    Y.applyUpdate(document, Y.encodeStateAsUpdate(team.at('a').document));
    document.getText('text').delete(0, 3);
    const c = await team.open('c', { document });
    expect(c.counts().sent).toBe(1);
    for (const doc of team.docs) expect(textOf(doc)).toBe('red');
    await team.close();
  });

  it('keeps changes that are made while it joins, and sends them as one', async () => {
    const team = await SyncTeam.of(['a', 'b']);
    change(team.at('a').document, { type: 'insert', at: 0, text: 'x' });
    await team.hub.deliverAll();
    const document = new Y.Doc();
    const opening = team.opening('c', { document });
    await turns();
    for (const letter of 'yz') document.getText('other').insert(0, letter);
    await team.hub.deliverAll();
    const c = await opening;
    await team.hub.deliverAll();
    expect(c.counts().sent).toBe(1);
    for (const doc of team.docs) expect([textOf(doc), doc.getText('other').toString()]).toEqual(['x', 'zy']);
    await team.close();
  });

  it('opens without an answer when nobody gives one in time, and catches up later', async () => {
    const team = await SyncTeam.of(['a']);
    change(team.at('a').document, { type: 'insert', at: 0, text: 'x' });
    const opening = team.opening('b');
    await turns();
    team.hub.held = [];
    team.clock.advance(1_000);
    const b = await opening;
    expect(textOf(b.document)).toBe('');
    await team.pass(13_000);
    expect(textOf(b.document)).toBe('x');
    await team.close();
  });

  it('lets a member come back with an empty document, and counts on where it was', async () => {
    const team = await SyncTeam.of(['a', 'b']);
    change(team.at('a').document, { type: 'insert', at: 0, text: 'x' });
    await team.hub.deliverAll();
    await team.at('a').close();
    await team.hub.deliverAll();
    const a = await team.open('a');
    expect(textOf(a.document)).toBe('x');
    change(a.document, { type: 'insert', at: 1, text: 'y' });
    await team.hub.deliverAll();
    expect(textOf(team.at('b').document)).toBe('xy');
    expect(team.at('b').getVectorClock()).toEqual({ a: 2, b: 0 });
    expect(team.refusals('b')).toEqual([]);
    await team.close();
  });

  it('joins two members with content of their own', async () => {
    const team = await SyncTeam.of([]);
    const [one, other] = [new Y.Doc(), new Y.Doc()];
    one.getText('text').insert(0, 'one');
    other.getMap('map').set('a', 'other');
    const both = [team.opening('a', { document: one }), team.opening('b', { document: other })];
    await team.pass(3_000);
    await Promise.all(both);
    await team.pass(15_000);
    expect(contentOf(one)).toEqual(contentOf(other));
    expect([textOf(one), one.getMap('map').get('a')]).toEqual(['one', 'other']);
    await team.close();
  });

  it('sends nothing more after it is closed, and leaves no timer behind', async () => {
    const team = await SyncTeam.of(['a', 'b']);
    const { document } = team.at('a');
    await team.at('a').close();
    expect(team.at('a').close()).toBe(team.at('a').close());
    await team.hub.deliverAll();
    expect(team.told('b').at(-1)).toBe('member-left');
    document.getText('text').insert(0, 'late');
    await turns();
    expect(team.hub.held).toEqual([]);
    await team.at('b').close();
    expect(team.clock.pending).toBe(0);
    team.membership.leave('a');
    await team.close();
  });

  it('leaves a document that was given alive', async () => {
    const document = new Y.Doc();
    let destroyed = 0;
    document.on('destroy', () => {
      destroyed += 1;
    });
    const team = await SyncTeam.of([]);
    const a = await team.open('a', { document });
    await a.close();
    expect(destroyed).toBe(0);
  });

  it('has a change too large for an update asked for as state', async () => {
    const team = await SyncTeam.of(['a', 'b'], { limits: { maxUpdateBytes: 500 } });
    team.at('a').document.getText('text').insert(0, 'x'.repeat(2_000));
    await team.pass(3_000);
    expect(textOf(team.at('b').document)).toHaveLength(2_000);
    expect(team.refusals('b')).toEqual([]);
    await team.close();
  });
});

describe('The log of a sync channel', () => {
  it('puts a snapshot in the place of its updates when they have become many', async () => {
    const log = new InMemoryUpdateLog();
    const team = await SyncTeam.of(['a']);
    const b = await team.open('b', { log, limits: { compactAfterUpdates: 10 } });
    for (let at = 0; at < 25; at++) {
      change(at % 2 === 0 ? b.document : team.at('a').document, { type: 'insert', at, text: 'ab' });
      change(b.document, { type: 'delete', at: 0, length: 1 });
      await team.hub.deliverAll();
    }
    const { snapshot, updates } = await log.load();
    expect(updates.length).toBeLessThan(10);
    expect(team.told('b').filter((type) => type === 'compacted').length).toBeGreaterThan(2);
    expect(snapshot?.vectorClock['a']).toBeGreaterThan(8);
    const rebuilt = new Y.Doc();
    for (const update of [snapshot?.state as Uint8Array, ...updates]) Y.applyUpdate(rebuilt, update);
    expect(contentOf(rebuilt)).toEqual(contentOf(b.document));
    await team.close();
  });

  it('puts a snapshot in their place when they have become large', async () => {
    const log = new InMemoryUpdateLog();
    const team = await SyncTeam.of([]);
    const a = await team.open('a', { log, limits: { compactAfterBytes: 1_000 } });
    a.document.getText('text').insert(0, 'x'.repeat(1_000));
    expect((await log.load()).updates).toEqual([]);
    await team.close();
  });

  it('gives a document with history back, and goes on counting', async () => {
    const log = new InMemoryUpdateLog();
    const team = await SyncTeam.of([]);
    const first = await team.open('a', { log, limits: { compactAfterUpdates: 3 } });
    for (const text of ['one ', 'two ', 'three ', 'four ']) first.document.getText('text').insert(0, text);
    first.document.getText('text').delete(0, 5);
    const content = contentOf(first.document);
    await first.close();
    const again = await team.open('a', { log });
    expect(contentOf(again.document)).toEqual(content);
    expect(again.getVectorClock()['a']).toBeGreaterThanOrEqual(3);
    const b = await team.open('b');
    expect(contentOf(b.document)).toEqual(content);
    again.document.getText('text').insert(0, 'five ');
    await team.hub.deliverAll();
    expect(contentOf(b.document)).toEqual(contentOf(again.document));
    expect(team.refusals('b')).toEqual([]);
    await team.close();
  });

  it('skips a record that does not apply, and tells', async () => {
    const log = new InMemoryUpdateLog();
    const source = new Y.Doc();
    source.getText('text').insert(0, 'good');
    await log.append(Uint8Array.of(9, 9, 9));
    await log.append(Y.encodeStateAsUpdate(source));
    const team = await SyncTeam.of([]);
    const a = await team.open('a', { log });
    expect(textOf(a.document)).toBe('good');
    expect(team.told('a')).toEqual(['log-failed']);
    await team.close();
  });

  it('that fails is told, and stops nothing', async () => {
    const log = new InMemoryUpdateLog();
    log.append = () => Promise.reject(new Error('disk full'));
    const team = await SyncTeam.of(['b']);
    const a = await team.open('a', { log });
    a.document.getText('text').insert(0, 'x');
    await team.hub.deliverAll();
    expect(team.events.get('a')).toMatchObject(
      expect.arrayContaining([expect.objectContaining({ type: 'log-failed', reason: 'disk full' })]),
    );
    expect(textOf(team.at('b').document)).toBe('x');
    await team.close();
  });
});
