import { reasonOf } from '../../runtime/protocol/errors.ts';
import {
  Awareness,
  applyAwarenessUpdate,
  encodeAwarenessUpdate,
  removeAwarenessStates,
} from 'y-protocols/awareness';
import type * as Y from 'yjs';
import type { SyncRefusal } from './sync-event.ts';

/** Why an awareness update is not taken over. */
export interface PresenceFault {
  readonly refusal: Extract<SyncRefusal, 'MALFORMED' | 'FOREIGN'>;
  readonly reason: string;
}

export interface PresenceDeps {
  readonly onLocalChange: () => void;
  readonly onListenerThrew: (error: unknown) => void;
}

/** The members' awareness states (y-protocols), each under its Yjs client id. Time is told from outside. */
export class Presence {
  readonly awareness: Awareness;
  readonly #deps: PresenceDeps;

  constructor(doc: Y.Doc, deps: PresenceDeps) {
    this.awareness = new Awareness(doc);
    // Its own timer reads the machine's clock; the channel renews and removes states by the injected one.
    clearInterval(this.awareness._checkInterval);
    this.#deps = deps;
    // A state's first clock is 0, which others take for no news.
    this.awareness.setLocalState({});
    this.awareness.on('update', this.#onUpdate);
  }

  /** Our own state as an awareness update. */
  encode(): Uint8Array {
    return encodeAwarenessUpdate(this.awareness, [this.awareness.clientID]);
  }

  /** Makes our state newer without changing it. */
  renew(): void {
    this.awareness.off('update', this.#onUpdate);
    this.#heedless(() => this.awareness.setLocalState(this.awareness.getLocalState()));
    this.awareness.on('update', this.#onUpdate);
  }

  /** Takes over a member's states; says what is wrong with the update, if anything. `mayBring` as in `rehearse`. */
  apply(update: Uint8Array, mayBring: (clientId: number) => boolean): PresenceFault | undefined {
    let foreign: number | undefined;
    try {
      foreign = clientsIn(update).find((clientId) => !mayBring(clientId));
    } catch (error) {
      return { refusal: 'MALFORMED', reason: `its awareness update does not decode: ${reasonOf(error)}` };
    }
    if (foreign !== undefined) {
      return {
        refusal: 'FOREIGN',
        reason: `it holds the state of the Yjs client ${foreign}, another member`,
      };
    }
    this.#heedless(() => applyAwarenessUpdate(this.awareness, update, this));
    return undefined;
  }

  /** Removes what is known of these clients. */
  remove(clientIds: readonly number[]): void {
    this.#heedless(() => removeAwarenessStates(this.awareness, [...clientIds], this));
  }

  close(): void {
    this.awareness.off('update', this.#onUpdate);
    this.#heedless(() => this.awareness.destroy());
  }

  /** Listeners are called when the state has changed already; what they throw goes to `onListenerThrew`. */
  #heedless(work: () => void): void {
    try {
      work();
    } catch (error) {
      this.#deps.onListenerThrew(error);
    }
  }

  readonly #onUpdate = (_: unknown, origin: unknown): void => {
    if (origin === 'local') this.#deps.onLocalChange();
  };
}

/** The client ids in an awareness update, found by applying it to an empty awareness. */
function clientsIn(update: Uint8Array): number[] {
  const scratch = { clientID: -1, states: new Map(), meta: new Map<number, unknown>(), emit: () => {} };
  applyAwarenessUpdate(scratch as unknown as Awareness, update, undefined);
  return [...scratch.meta.keys(), ...scratch.states.keys()];
}
