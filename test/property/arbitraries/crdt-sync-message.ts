import fc from 'fast-check';
import * as Y from 'yjs';
import type { CRDTSyncMessage } from '../../../runtime/protocol/crdt-sync-message.ts';
import { arbAgentId } from './agent-card.ts';
import { arbText, arbTimestamp } from './json.ts';

/** One change of a shared document: of its text `text`, its map `map` or its list `list`. */
export type DocumentChange =
  | { readonly type: 'insert'; readonly at: number; readonly text: string }
  | { readonly type: 'delete'; readonly at: number; readonly length: number }
  | { readonly type: 'bold'; readonly at: number; readonly length: number }
  | { readonly type: 'set'; readonly key: string; readonly value: unknown }
  | { readonly type: 'unset'; readonly key: string }
  | { readonly type: 'push'; readonly value: unknown }
  | { readonly type: 'nest'; readonly key: string };

/** One UTF-16 unit each: Yjs counts in them, and a change between the two halves of a pair breaks the character. */
const arbLetter = () => fc.constantFrom('a', 'b', 'é', '漢', ' ', '\n');
const arbKey = () => fc.constantFrom('a', 'b', 'c');
const arbValue = () => fc.oneof(fc.integer(), fc.string({ maxLength: 5 }), fc.constant({ deep: [1, null] }));

export const arbDocumentChange = (): fc.Arbitrary<DocumentChange> =>
  fc.oneof(
    fc.record({
      type: fc.constant('insert' as const),
      at: fc.nat(40),
      text: fc.string({ minLength: 1, maxLength: 6, unit: arbLetter() }),
    }),
    fc.record({
      type: fc.constant('delete' as const),
      at: fc.nat(40),
      length: fc.integer({ min: 1, max: 8 }),
    }),
    fc.record({ type: fc.constant('bold' as const), at: fc.nat(40), length: fc.integer({ min: 1, max: 8 }) }),
    fc.record({ type: fc.constant('set' as const), key: arbKey(), value: arbValue() }),
    fc.record({ type: fc.constant('unset' as const), key: arbKey() }),
    fc.record({ type: fc.constant('push' as const), value: arbValue() }),
    fc.record({ type: fc.constant('nest' as const), key: arbKey() }),
  );

/** Makes the change; places beyond the end are taken from the beginning again. */
export function change(doc: Y.Doc, what: DocumentChange): void {
  const text = doc.getText('text');
  const map = doc.getMap('map');
  switch (what.type) {
    case 'insert':
      return text.insert(what.at % (text.length + 1), what.text);
    case 'delete':
    case 'bold': {
      const at = what.at % (text.length + 1);
      const length = Math.min(what.length, text.length - at);
      if (length === 0) return;
      return what.type === 'delete' ? text.delete(at, length) : text.format(at, length, { bold: true });
    }
    case 'set':
      return void map.set(what.key, what.value);
    case 'unset':
      return map.delete(what.key);
    case 'push':
      return doc.getArray('list').push([what.value]);
    case 'nest':
      return void map.set(what.key, new Y.Map([['nested', 1]]));
  }
}

/** What can be read in the document, and its state with all deletions. */
export const contentOf = (doc: Y.Doc) => ({
  text: doc.getText('text').toDelta() as unknown,
  map: doc.getMap('map').toJSON(),
  list: doc.getArray('list').toJSON(),
  state: Buffer.from(Y.encodeSnapshot(Y.snapshot(doc))).toString('base64'),
});

/** The Yjs updates of a new document in which these changes are made, one each; changes that change nothing have none. */
export function updatesOf(changes: readonly DocumentChange[], clientId = 7): Uint8Array[] {
  const doc = new Y.Doc();
  doc.clientID = clientId;
  const updates: Uint8Array[] = [];
  doc.on('update', (update) => updates.push(update));
  for (const one of changes) change(doc, one);
  return updates;
}

/** Any id that a record can be keyed by. */
const arbMemberId = () => arbAgentId().filter((id) => id !== '__proto__');

/** Any valid message of the seed's shape: a Yjs update as payload, a clock that counts its source. */
export const arbCRDTSyncMessage = (): fc.Arbitrary<CRDTSyncMessage> =>
  fc
    .record({
      sourceAgentId: arbMemberId(),
      others: fc.dictionary(arbMemberId(), fc.nat(1_000), { maxKeys: 3 }),
      count: fc.integer({ min: 1, max: 1_000 }),
      text: fc.string({ minLength: 1, maxLength: 10 }),
      timestamp: arbTimestamp(),
      operationId: arbText({ minLength: 1 }),
    })
    .map(({ sourceAgentId, others, count, text, timestamp, operationId }) => ({
      sourceAgentId,
      vectorClock: Object.fromEntries([...Object.entries(others), [sourceAgentId, count]]),
      payload: updatesOf([{ type: 'insert', at: 0, text }])[0],
      timestamp,
      operationId,
    }));
