import { describe, expect, it } from 'vitest';
import * as Y from 'yjs';
import {
  InMemoryUpdateLog,
  type SyncSnapshot,
  type UpdateLog,
} from '../../../../actors/shared-state/update-log.ts';
import { SyncMembership } from '../../../../actors/shared-state/sync-membership.ts';
import { contentOf, updatesOf } from '../../../property/arbitraries/crdt-sync-message.ts';
import { rejection } from '../../../fixtures/until.ts';
import { keysOf, SyncTeam, turns } from './sync-team.ts';

/** A log that writes when it is told to, and fails when it is told to. */
class HeldLog implements UpdateLog {
  readonly kept = new InMemoryUpdateLog();
  isHeld = false;
  /** The error of what comes next, by what it is. */
  failing: { append?: Error; compact?: Error } = {};
  readonly #held: (() => void)[] = [];

  append(update: Uint8Array): Promise<void> {
    return this.#write(this.failing.append, () => this.kept.append(update));
  }

  compact(snapshot: SyncSnapshot): Promise<void> {
    return this.#write(this.failing.compact, () => this.kept.compact(snapshot));
  }

  load() {
    return this.kept.load();
  }

  /** Writes what is held, the oldest first. */
  write(count = Number.POSITIVE_INFINITY): void {
    for (const run of this.#held.splice(0, count)) run();
  }

  /** As the next process finds it: what is held is lost. */
  async crashed(): Promise<HeldLog> {
    const next = new HeldLog();
    const { snapshot, updates } = await this.kept.load();
    if (snapshot !== undefined) await next.kept.compact(snapshot);
    for (const update of updates) await next.kept.append(update);
    return next;
  }

  #write(failure: Error | undefined, write: () => unknown): Promise<void> {
    if (failure !== undefined) return Promise.reject(failure);
    return new Promise((resolve) => {
      const run = (): void => {
        write();
        resolve();
      };
      if (this.isHeld) this.#held.push(run);
      else run();
    });
  }
}

const textOf = (doc: Y.Doc): string => doc.getText('text').toString();
const write = (doc: Y.Doc, text: string): void => doc.getText('text').insert(0, text);

/** What a log holds, as a document. */
async function documentIn(log: UpdateLog): Promise<Y.Doc> {
  const { snapshot, updates } = await log.load();
  const doc = new Y.Doc();
  for (const update of snapshot === undefined ? updates : [snapshot.state, ...updates])
    Y.applyUpdate(doc, update);
  return doc;
}

describe('What a member says of its document (N-9.1, F-01)', () => {
  it('goes when its log has the change, whatever kind of message tells of it, and in order', async () => {
    const log = new HeldLog();
    const team = await SyncTeam.of(['b']);
    const a = await team.open('a', { log });
    log.isHeld = true;
    write(a.document, 'one');
    // `b` asks for what is missing here, and is told of somebody's presence.
    a.awareness.setLocalStateField('mood', 'good');
    const c = team.opening('c');
    await turns(30);
    for (const { message } of team.hub.held) expect(message.sourceAgentId).not.toBe('a');
    await team.hub.deliverAll();
    expect(textOf(team.at('b').document)).toBe('');
    log.write();
    await turns(30);
    const said = team.hub.held.filter(({ to, message }) => to === 'b' && message.sourceAgentId === 'a');
    expect(said.map(({ message }) => message.kind)).toEqual(['update', 'presence']);
    await team.pass(3_000);
    expect([textOf(team.at('b').document), textOf((await c).document)]).toEqual(['one', 'one']);
    await team.close();
  });

  it('resolves broadcast and whenKept when the change is written', async () => {
    const log = new HeldLog();
    const team = await SyncTeam.of(['b']);
    const a = await team.open('a', { log });
    log.isHeld = true;
    let done = 0;
    const [update] = updatesOf([{ type: 'insert', at: 0, text: 'x' }]);
    const both = [a.broadcast(update, 'a'), a.whenKept()].map((work) =>
      work.then(() => {
        done += 1;
      }),
    );
    await turns(50);
    expect(done).toBe(0);
    log.write();
    await Promise.all(both);
    expect(textOf(await documentIn(log.kept))).toBe('x');
    await team.close();
  });

  it('is nothing that a crash could undo: the others know of no change that its log has not', async () => {
    const log = new HeldLog();
    const team = await SyncTeam.of(['b']);
    const a = await team.open('a', { log });
    write(a.document, 'kept ');
    await a.whenKept();
    log.isHeld = true;
    write(a.document, 'lost ');
    await team.pass(30_000);
    expect(textOf(team.at('b').document)).toBe('kept ');
    expect(textOf(await documentIn(log.kept))).toBe('kept ');
    log.write();
    await team.close();
  });
});

describe('A member that comes back with its log (N-9.2, N-9.3, F-01)', () => {
  it('has its document, and gives the others what only it had', async () => {
    const log = new HeldLog();
    const team = await SyncTeam.of(['b']);
    const first = await team.open('a', { log });
    write(first.document, 'shared ');
    await team.hub.deliverAll();
    // Kept, and the process ends before it is sent.
    write(first.document, 'own ');
    await first.whenKept();
    team.hub.held = [];
    await team.crash('a');
    write(team.at('b').document, 'theirs ');
    await turns();
    const again = await team.open('a', { log: await log.crashed() });
    await team.hub.deliverAll();
    expect(contentOf(again.document)).toEqual(contentOf(team.at('b').document));
    for (const text of ['shared', 'own', 'theirs']) expect(textOf(again.document)).toContain(text);
    expect(team.refusals('b')).toEqual([]);
    await team.close();
  });

  it('begins a later stay, which is written before anybody hears of it, though the clock stands still', async () => {
    const log = new HeldLog();
    const team = await SyncTeam.of(['b']);
    const sessions: number[] = [];
    let next = log;
    for (let life = 0; life < 4; life++) {
      next.isHeld = true;
      // The clock goes back, as when the machine starts with a wrong one.
      team.clock.jump(-10_000);
      const opening = team.opening('a', { log: next });
      await turns(30);
      expect(team.hub.held).toEqual([]);
      next.isHeld = false;
      next.write();
      await turns(30);
      const [hello] = team.hub.held.map(({ message }) => message);
      sessions.push(hello?.session ?? 0);
      expect((await next.load()).snapshot?.sessions['a']).toBe(hello?.session);
      await team.hub.deliverAll();
      const a = await opening;
      write(a.document, `${life} `);
      await a.whenKept();
      await team.hub.deliverAll();
      expect(textOf(team.at('b').document)).toContain(`${life} `);
      expect(team.refusals('b')).toEqual([]);
      await team.crash('a');
      next = await next.crashed();
    }
    expect(sessions).toEqual([...new Set(sessions)].sort((one, other) => one - other));
    await team.close();
  });

  it('uses no number of an earlier stay again, though nobody is there to tell it of them', async () => {
    const log = new HeldLog();
    const team = await SyncTeam.of(['b']);
    const first = await team.open('a', { log });
    for (const text of ['1', '2', '3']) write(first.document, text);
    await team.hub.deliverAll();
    const before = team.at('b').getVectorClock()['a'] ?? 0;
    expect(before).toBe(3);
    await team.crash('a');
    const opening = team.opening('a', { log: await log.crashed() });
    await turns(30);
    team.hub.held = [];
    team.clock.advance(1_000);
    const again = await opening;
    expect(again.getVectorClock()['a']).toBeGreaterThanOrEqual(before);
    write(again.document, '4');
    await team.pass(15_000);
    expect(textOf(team.at('b').document)).toBe('4321');
    expect(team.refusals('b')).toEqual([]);
    await team.close();
  });

  it('is judged as a member again', async () => {
    const log = new HeldLog();
    const team = await SyncTeam.of(['b']);
    const a = await team.open('a', { log });
    write(a.document, 'x');
    await team.hub.deliverAll();
    await team.crash('a');
    // The next process has let in nobody but `b`.
    const membership = new SyncMembership();
    membership.join({ agentId: 'b', tier: 1, publicKey: keysOf('b').publicKey });
    const refused = rejection(team.open('a', { log: await log.crashed(), membership }));
    expect((await refused).code).toBe('REFUSED');
    await team.close();
  });

  it('holds back records whose ground is missing, and takes them up when the others bring it', async () => {
    const lost = updatesOf([
      { type: 'insert', at: 0, text: 'one ' },
      { type: 'insert', at: 4, text: 'two ' },
      { type: 'insert', at: 8, text: 'three' },
    ]);
    const log = new InMemoryUpdateLog();
    // The first one cannot be read; what it held the others have, but not what came after it.
    await log.append(Uint8Array.of(9, 9, 9));
    for (const update of lost.slice(1)) await log.append(update);
    const document = new Y.Doc();
    Y.applyUpdate(document, lost[0] as Uint8Array);
    const team = await SyncTeam.of([]);
    await team.open('b', { document });
    const a = await team.open('a', { log });
    await team.hub.deliverAll();
    expect(team.told('a').filter((type) => type === 'log-failed')).toHaveLength(3);
    for (const doc of [a.document, document]) expect(textOf(doc)).toBe('one two three');
    // What never could be read is still there.
    expect((await log.load()).updates.map((update) => [...update])).toContainEqual([9, 9, 9]);
    await a.whenKept();
    await team.close();
  });
});

describe('A log that fails (F-01)', () => {
  const full = new Error('disk full');

  it('keeps what it has when a compaction fails, and is compacted later', async () => {
    const log = new HeldLog();
    const team = await SyncTeam.of([]);
    const a = await team.open('a', { log, limits: { compactAfterUpdates: 5 } });
    log.failing = { compact: full };
    for (let at = 0; at < 23; at++) write(a.document, `${at} `);
    await a.whenKept();
    expect(team.told('a')).toContain('log-failed');
    expect(team.told('a')).not.toContain('compacted');
    expect((await log.load()).updates).toHaveLength(23);
    expect(textOf(await documentIn(log))).toBe(textOf(a.document));
    log.failing = {};
    await team.pass(10_000);
    const compacted = team.events.get('a')?.filter(({ type }) => type === 'compacted');
    expect(compacted).toMatchObject([{ reason: expect.stringContaining('23 updates') }]);
    expect((await log.load()).updates).toEqual([]);
    expect(textOf(await documentIn(log))).toBe(textOf(a.document));
    await team.close();
  });

  it('tries no more often while it fails than the changes double', async () => {
    const log = new HeldLog();
    const team = await SyncTeam.of([]);
    const a = await team.open('a', { log, limits: { compactAfterUpdates: 4 } });
    log.failing = { compact: full };
    for (let at = 0; at < 200; at++) {
      write(a.document, 'x');
      await turns(5);
    }
    const failures = team.told('a').filter((type) => type === 'log-failed').length;
    expect(failures).toBeGreaterThan(3);
    expect(failures).toBeLessThan(60);
    await team.close();
  });

  it('is told when an update is not written; a snapshot takes that in as soon as one can be', async () => {
    const log = new HeldLog();
    const team = await SyncTeam.of(['b']);
    const a = await team.open('a', { log });
    log.failing = { append: full, compact: full };
    write(a.document, 'lost ');
    const [update] = updatesOf([{ type: 'insert', at: 0, text: 'given ' }]);
    expect((await rejection(a.broadcast(update, 'a'))).message).toBe('disk full');
    expect((await rejection(a.whenKept())).message).toBe('disk full');
    // What cannot be kept is shared all the same.
    await team.hub.deliverAll();
    expect(textOf(team.at('b').document)).toContain('lost');
    log.failing = {};
    write(a.document, 'later ');
    await a.whenKept();
    expect(textOf(await documentIn(log))).toBe(textOf(a.document));
    for (const text of ['lost', 'given', 'later']) expect(textOf(a.document)).toContain(text);
    await team.close();
  });

  it('does not keep a channel from opening', async () => {
    const log = new HeldLog();
    log.failing = { compact: full };
    const team = await SyncTeam.of([]);
    const a = await team.open('a', { log });
    expect(team.told('a')).toEqual(['log-failed']);
    log.failing = {};
    write(a.document, 'x');
    await a.whenKept();
    expect(textOf(await documentIn(log))).toBe('x');
    await team.close();
  });
});
