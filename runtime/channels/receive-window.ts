import type { A2AEnvelope } from '../protocol/envelope.ts';

/** `known`: it was here before. `outside`: no honest sender is that far. `overflow`: no room now; it is sent again. */
export type Kept = 'kept' | 'known' | 'outside' | 'overflow';

/** What one end has taken from the other: which envelope is next, and those that came before their turn. */
export class ReceiveWindow {
  readonly #size: number;
  readonly #maxBytes: number;
  #received = 0;
  #passedOver: number | undefined;
  #bytes = 0;
  readonly #kept = new Map<number, { readonly envelope: A2AEnvelope; readonly bytes: number }>();

  constructor(size: number, maxBytes: number) {
    this.#size = size;
    this.#maxBytes = maxBytes;
  }

  /** How many have been taken or passed over, which is the sequence of the next. */
  get received(): number {
    return this.#received;
  }

  /** The last that was passed over. A sender withdraws only its oldest and waits for the answer, so it needs no other. */
  get passedOver(): number | undefined {
    return this.#passedOver;
  }

  keep(sequence: number, envelope: A2AEnvelope, bytes: number): Kept {
    if (sequence < this.#received || this.#kept.has(sequence)) return 'known';
    if (sequence >= this.#received + this.#size) return 'outside';
    // The next one always has room: without it nothing moves.
    if (sequence > this.#received && this.#bytes + bytes > this.#maxBytes) return 'overflow';
    this.#kept.set(sequence, { envelope, bytes });
    this.#bytes += bytes;
    return 'kept';
  }

  /** The next envelope if it is here; it counts as received. */
  take(): A2AEnvelope | undefined {
    const next = this.#drop(this.#received);
    if (next === undefined) return undefined;
    this.#received += 1;
    return next.envelope;
  }

  /** Passes `sequence` over, unless it was taken before; false for one whose turn it is not yet. */
  withdraw(sequence: number): boolean {
    if (sequence > this.#received) return false;
    if (sequence < this.#received) return true;
    this.#drop(sequence);
    this.#passedOver = sequence;
    this.#received += 1;
    return true;
  }

  clear(): void {
    this.#kept.clear();
    this.#bytes = 0;
  }

  #drop(sequence: number): { readonly envelope: A2AEnvelope } | undefined {
    const kept = this.#kept.get(sequence);
    if (kept === undefined) return undefined;
    this.#kept.delete(sequence);
    this.#bytes -= kept.bytes;
    return kept;
  }
}
