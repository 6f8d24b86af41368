import { describe, expect, it } from 'vitest';
import * as Y from 'yjs';
import { GuardedDocument } from '../../../../actors/shared-state/guarded-document.ts';
import { contentOf, updatesOf } from '../../../property/arbitraries/crdt-sync-message.ts';

const typed = (...letters: string[]) => updatesOf(letters.map((text) => ({ type: 'insert', at: 0, text })));

function guarded(doc = new Y.Doc()) {
  const changes: Uint8Array[] = [];
  return { doc, changes, document: new GuardedDocument(doc, (update) => changes.push(update)) };
}

describe('GuardedDocument (N-9.5)', () => {
  it('applies what it has rehearsed, and does not call that a change of its own', () => {
    const { doc, document, changes } = guarded();
    const [first = new Uint8Array()] = typed('x');
    expect(document.rehearse(first)).toBeUndefined();
    expect(doc.store.clients.size).toBe(0);
    expect(document.apply(first)).toEqual({ hasChanged: true });
    expect(document.apply(first)).toEqual({ hasChanged: false });
    expect(changes).toEqual([]);
    doc.getText('text').insert(0, 'y');
    expect(changes).toHaveLength(1);
  });

  it('leaves the document as it was by an update that Yjs takes half of', () => {
    const { doc, document } = guarded();
    const [first = new Uint8Array(), second = new Uint8Array()] = typed('first', 'second');
    // Two structs, the later one broken: what comes before it would be applied by then.
    const plain = new Y.Doc();
    const merged = Y.mergeUpdates([first, second]);
    const halves = Array.from({ length: merged.length * 8 }, (_, bit) => {
      const broken = merged.slice();
      broken[bit >> 3] = (broken[bit >> 3] as number) ^ (1 << (bit & 7));
      return broken;
    });
    let halfChanged = 0;
    for (const broken of halves) {
      const victim = new Y.Doc();
      try {
        Y.applyUpdate(victim, broken);
        if (victim.store.pendingStructs !== null) halfChanged += 1;
      } catch {
        if (victim.store.clients.size > 0) halfChanged += 1;
      }
      const before = contentOf(doc);
      if (document.rehearse(broken) !== undefined) expect(contentOf(doc)).toEqual(before);
    }
    expect(halfChanged).toBeGreaterThan(0);
    for (const update of [first, second]) {
      expect(document.rehearse(update)).toBeUndefined();
      document.apply(update);
      Y.applyUpdate(plain, update);
    }
    expect(contentOf(doc)).toEqual(contentOf(plain));
  });

  it('rehearses on what is there after a failure', () => {
    const { doc, document } = guarded();
    const [first = new Uint8Array(), second = new Uint8Array(), third = new Uint8Array()] = typed(
      'a',
      'b',
      'c',
    );
    expect(document.rehearse(second)).toMatchObject({ refusal: 'INCOMPLETE' });
    for (const update of [first, second]) {
      expect(document.rehearse(update)).toBeUndefined();
      document.apply(update);
    }
    expect(document.rehearse(Uint8Array.of(1, 1))).toMatchObject({ refusal: 'MALFORMED' });
    expect(document.rehearse(third)).toBeUndefined();
    document.apply(third);
    expect(doc.getText('text').toString()).toBe('cba');
  });

  it('rehearses with the root types of the document: what one of them does not take changes nothing', () => {
    class Strict extends Y.Map<unknown> {
      override _callObserver(...given: Parameters<Y.Map<unknown>['_callObserver']>): void {
        super._callObserver(...given);
        if (this.has('bad')) throw new Error('it takes no "bad"');
      }
    }
    const { doc, document } = guarded();
    const strict = doc.get('strict', Strict as never) as unknown as Strict;
    const source = new Y.Doc();
    source.getMap('strict').set('bad', 1);
    expect(document.rehearse(Y.encodeStateAsUpdate(source))).toMatchObject({ refusal: 'MALFORMED' });
    expect(strict.size).toBe(0);
  });

  it('says which changes belong to another client', () => {
    const { document } = guarded();
    const [first = new Uint8Array()] = typed('a');
    expect(document.rehearse(first, (clientId) => clientId !== 7)).toMatchObject({ refusal: 'FOREIGN' });
    document.apply(first);
    // Nothing new: whoever tells it again may.
    expect(document.rehearse(first, () => false)).toBeUndefined();
  });

  it('tells equal documents by their digests, deletions included', () => {
    const [one, other] = [guarded(), guarded()];
    const [first = new Uint8Array()] = typed('a');
    expect(one.document.digest()).toBe(other.document.digest());
    one.document.apply(first);
    expect(one.document.digest()).not.toBe(other.document.digest());
    other.document.apply(first);
    expect(one.document.digest()).toBe(other.document.digest());
    one.doc.getText('text').delete(0, 1);
    expect(one.document.digest()).not.toBe(other.document.digest());
  });

  it('takes no document that waits for updates', () => {
    const doc = new Y.Doc();
    Y.applyUpdate(doc, typed('a', 'b')[1] as Uint8Array);
    expect(() => guarded(doc)).toThrow(expect.objectContaining({ code: 'INVALID_OPTIONS' }));
  });

  it('lets go of the document', () => {
    const { doc, document, changes } = guarded();
    document.close();
    doc.getText('text').insert(0, 'x');
    expect(changes).toEqual([]);
  });
});
