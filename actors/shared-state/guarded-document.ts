import { createHash } from 'node:crypto';
import * as Y from 'yjs';
import { invalidOptions, reasonOf } from '../../runtime/protocol/errors.ts';
import type { SyncRefusal } from './sync-event.ts';

/** Why an update is not applied. */
export interface DocumentFault {
  readonly refusal: Extract<SyncRefusal, 'MALFORMED' | 'FOREIGN' | 'INCOMPLETE'>;
  readonly reason: string;
}

/**
 * A Yjs document that takes an update as a whole or not at all.
 *
 * `Y.applyUpdate` is not atomic: it may throw after it has changed the document, and it keeps what it cannot place yet
 * inside it. So an update is rehearsed on a shadow, a second document with the same content and the same root types. Only
 * what the shadow takes without throwing, places completely and can encode again is applied to the document; both hold the
 * same structs, and applying depends on nothing else, so there it succeeds as well. A shadow that did not take an update is thrown away and
 * made anew from the document, which the update has not touched.
 */
export class GuardedDocument {
  readonly doc: Y.Doc;
  readonly #onLocalChange: (update: Uint8Array) => void;
  #shadow: Y.Doc;
  #digest: string | undefined;
  #hasChanged = false;

  /** `onLocalChange` hears every change that `apply` did not make. Fails with INVALID_OPTIONS while `doc` has updates pending. */
  constructor(doc: Y.Doc, onLocalChange: (update: Uint8Array) => void) {
    if (isPending(doc)) throw invalidOptions('document', 'a Y.Doc with pending updates', 'one without');
    this.doc = doc;
    this.#onLocalChange = onLocalChange;
    this.#shadow = shadowOf(doc);
    doc.on('update', this.#onUpdate);
  }

  get isEmpty(): boolean {
    return this.doc.store.clients.size === 0;
  }

  /**
   * Tries the update on the shadow; says what is wrong with it, or undefined when `apply` may follow, at once.
   *
   * `mayBring` says under which Yjs client ids it may bring changes that are not here yet.
   */
  rehearse(
    update: Uint8Array,
    mayBring: (clientId: number) => boolean = () => true,
  ): DocumentFault | undefined {
    const fault = this.#read(update, mayBring);
    if (fault !== undefined) return fault;
    mirrorRootTypes(this.doc, this.#shadow);
    const tried = tryOn(this.#shadow, update);
    if (tried !== undefined) this.#shadow = shadowOf(this.doc);
    return tried;
  }

  /**
   * Applies an update that was just rehearsed; says whether it changed anything.
   *
   * `thrown` is what a listener of the document threw, if one did: Yjs calls listeners when the document has changed
   * already, and changes it completely all the same.
   */
  apply(update: Uint8Array): { readonly hasChanged: boolean; readonly thrown?: unknown } {
    this.#hasChanged = false;
    try {
      Y.applyUpdate(this.doc, update, this);
      return { hasChanged: this.#hasChanged };
    } catch (thrown) {
      return { hasChanged: this.#hasChanged, thrown };
    }
  }

  /** What has been changed, without deletions, in the encoding of Yjs. */
  stateVector(): Uint8Array {
    return Y.encodeStateVector(this.doc);
  }

  /** What a document of this state vector lacks, and all deletions. Throws on what is no state vector. */
  stateSince(stateVector?: Uint8Array): Uint8Array {
    return Y.encodeStateAsUpdate(this.doc, stateVector);
  }

  /** Equal for equal documents, deletions included. */
  digest(): string {
    this.#digest ??= createHash('sha256')
      .update(Y.encodeSnapshot(Y.snapshot(this.doc)))
      .digest('base64url');
    return this.#digest;
  }

  /** Lets go of the document, which lives on. */
  close(): void {
    this.doc.off('update', this.#onUpdate);
    this.#shadow.destroy();
  }

  #read(update: Uint8Array, mayBring: (clientId: number) => boolean): DocumentFault | undefined {
    try {
      for (const { id, length } of Y.decodeUpdate(update).structs) {
        if (id.clock + length <= Y.getState(this.doc.store, id.client) || mayBring(id.client)) continue;
        return {
          refusal: 'FOREIGN',
          reason: `it brings changes of the Yjs client ${id.client}, another member`,
        };
      }
      return undefined;
    } catch (error) {
      return malformed(error);
    }
  }

  readonly #onUpdate = (update: Uint8Array, origin: unknown): void => {
    this.#digest = undefined;
    this.#hasChanged = true;
    if (origin === this) return;
    if (tryOn(this.#shadow, update) !== undefined) this.#shadow = shadowOf(this.doc);
    this.#onLocalChange(update);
  };
}

function tryOn(shadow: Y.Doc, update: Uint8Array): DocumentFault | undefined {
  const changes: Uint8Array[] = [];
  const note = (change: Uint8Array) => changes.push(change);
  shadow.on('update', note);
  try {
    Y.applyUpdate(shadow, update);
    if (isPending(shadow)) return { refusal: 'INCOMPLETE', reason: 'it builds on changes that are not here' };
    for (const change of changes) Y.decodeUpdate(change);
    return undefined;
  } catch (error) {
    return malformed(error);
  } finally {
    shadow.off('update', note);
  }
}

function shadowOf(doc: Y.Doc): Y.Doc {
  const shadow = new Y.Doc({ gc: doc.gc, gcFilter: doc.gcFilter, guid: doc.guid });
  mirrorRootTypes(doc, shadow);
  Y.applyUpdate(shadow, Y.encodeStateAsUpdate(doc));
  return shadow;
}

/** A root that the embedder has read as text, map or array reacts to changes as such; the shadow's has to as well. */
function mirrorRootTypes(doc: Y.Doc, shadow: Y.Doc): void {
  for (const [name, type] of doc.share) {
    if (shadow.share.get(name)?.constructor === type.constructor) continue;
    shadow.get(name, type.constructor as new () => typeof type);
  }
}

const isPending = ({ store }: Y.Doc): boolean => store.pendingStructs !== null || store.pendingDs !== null;

const malformed = (error: unknown): DocumentFault => ({
  refusal: 'MALFORMED',
  reason: `it does not decode or apply: ${reasonOf(error)}`,
});
