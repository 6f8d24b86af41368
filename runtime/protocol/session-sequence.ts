import { z } from 'zod';
import { invalidOptions } from './errors.ts';
import { parseOptions } from './parse-options.ts';
import type { ReceiveFinding, ReceivePolicy } from './receive-policy.ts';

/**
 * - `window`      how many numbers below the highest one are remembered one by one, a multiple of 32. @default 1024
 * - `maxSessions` how many sessions are remembered. The one unused for longest is forgotten first. @default 1000
 */
export const SequenceOptions = z.strictObject({
  window: z.int().positive().max(1_048_576).multipleOf(32).default(1_024),
  maxSessions: z.int().positive().max(1_000_000).default(1_000),
});
export type SequenceOptions = z.input<typeof SequenceOptions>;

/**
 * What a number is in its session.
 *
 * - `next`      the one that was awaited.
 * - `gap`       a later one; `missing` numbers from `from` on have not come.
 * - `late`      one that was missing.
 * - `duplicate` one that has come before.
 * - `stale`     one below the window: whether it has come before is not known any more.
 */
export type SequencePlace =
  | { readonly kind: 'next' | 'late' | 'duplicate' | 'stale' }
  | { readonly kind: 'gap'; readonly from: number; readonly missing: number };

/**
 * Which numbers of one session have come: the highest, and a bit for each of the `window` numbers up to it. The first number is
 * 0, and another one is a gap. Its memory does not grow.
 */
export class SequenceWindow {
  readonly #bits: Uint32Array;
  readonly #window: number;
  #next = 0;

  constructor(window = 1_024) {
    this.#window = parseOptions(SequenceOptions, { window }, '').window;
    this.#bits = new Uint32Array(this.#window / 32);
  }

  /** The number after the highest that has come. */
  get next(): number {
    return this.#next;
  }

  /** Takes a number. Throws INVALID_OPTIONS for what is no whole number of at least 0. */
  take(sequence: number): SequencePlace {
    if (!Number.isSafeInteger(sequence) || sequence < 0)
      throw invalidOptions('sequence', sequence, 'a whole number of at least 0');
    if (sequence >= this.#next) return this.#advance(sequence);
    if (sequence < this.#next - this.#window) return STALE;
    if (this.#has(sequence)) return DUPLICATE;
    this.#set(sequence);
    return LATE;
  }

  #advance(sequence: number): SequencePlace {
    const from = this.#next;
    const missing = sequence - from;
    if (missing >= this.#window) this.#bits.fill(0);
    else for (let at = from; at < sequence; at++) this.#clear(at);
    this.#set(sequence);
    this.#next = sequence + 1;
    return missing === 0 ? NEXT : { kind: 'gap', from, missing };
  }

  #has(sequence: number): boolean {
    const at = sequence % this.#window;
    return (((this.#bits[at >>> 5] as number) >>> (at & 31)) & 1) === 1;
  }

  #set(sequence: number): void {
    const at = sequence % this.#window;
    this.#bits[at >>> 5] = (this.#bits[at >>> 5] as number) | (1 << (at & 31));
  }

  #clear(sequence: number): void {
    const at = sequence % this.#window;
    this.#bits[at >>> 5] = (this.#bits[at >>> 5] as number) & ~(1 << (at & 31));
  }
}

const NEXT: SequencePlace = { kind: 'next' };
const LATE: SequencePlace = { kind: 'late' };
const DUPLICATE: SequencePlace = { kind: 'duplicate' };
const STALE: SequencePlace = { kind: 'stale' };

/**
 * The numbers that come in sessions, one window for each session. A peer that opens many sessions has its own ones forgotten: make
 * one of these for each peer.
 */
export class SessionSequences {
  readonly #windows = new Map<string, SequenceWindow>();
  readonly #window: number;
  readonly #maxSessions: number;

  /** Throws INVALID_OPTIONS naming field and value. */
  constructor(options: SequenceOptions = {}) {
    const { window, maxSessions } = parseOptions(SequenceOptions, options, '');
    this.#window = window;
    this.#maxSessions = maxSessions;
  }

  /** How many sessions are remembered. */
  get size(): number {
    return this.#windows.size;
  }

  take(sessionId: string, sequence: number): SequencePlace {
    const window = this.#windows.get(sessionId) ?? new SequenceWindow(this.#window);
    const place = window.take(sequence);
    this.#windows.delete(sessionId);
    this.#windows.set(sessionId, window);
    if (this.#windows.size > this.#maxSessions) {
      const [oldest] = this.#windows.keys();
      this.#windows.delete(oldest as string);
    }
    return place;
  }

  /** Forgets a session that is over. */
  end(sessionId: string): boolean {
    return this.#windows.delete(sessionId);
  }
}

/** Gives the numbers of the sessions that one sender has: 0, 1, 2, … in each, until `end`. */
export class SessionNumbers {
  readonly #next = new Map<string, number>();
  readonly #maxSessions: number;

  /** Throws INVALID_OPTIONS naming field and value. */
  constructor(options: Pick<SequenceOptions, 'maxSessions'> = {}) {
    this.#maxSessions = parseOptions(SequenceOptions, options, '').maxSessions;
  }

  /**
   * The next number of a session. Throws INVALID_OPTIONS for one session more than there may be: a session that was forgotten
   * would begin at 0 again, and its receiver would drop what it is sent.
   */
  next(sessionId: string): number {
    const sequence = this.#next.get(sessionId) ?? 0;
    if (sequence === 0 && this.#next.size >= this.#maxSessions)
      throw invalidOptions('sessionId', sessionId, `at most ${this.#maxSessions} sessions at a time`);
    this.#next.set(sessionId, sequence + 1);
    return sequence;
  }

  /** Forgets a session that is over. */
  end(sessionId: string): boolean {
    return this.#next.delete(sessionId);
  }
}

/** No session is remembered by longer ids. */
const MAX_ID = 256;
const MAX_SENDER = 1_024;

/**
 * The rule about numbered sessions: warns of a gap and of what comes late, drops what has come before. Each sender counts for
 * itself. What has no session passes. Refuses an id of more than 256 characters. Make one for each peer.
 */
export function sessionSequence(options: SequenceOptions = {}): ReceivePolicy {
  const sequences = new SessionSequences(options);
  return {
    name: 'session-sequence',
    receive: ({ envelope: { session, sender } }) => {
      if (session === undefined) return undefined;
      const fault = tooLong('session', session.id, MAX_ID) ?? tooLong('sender', sender, MAX_SENDER);
      if (fault !== undefined) return fault;
      const place = sequences.take(JSON.stringify([sender, session.id]), session.sequence);
      return findingOf(place, session.id, session.sequence);
    },
  };
}

function tooLong(what: string, id: string, most: number): ReceiveFinding | undefined {
  if (id.length <= most) return undefined;
  const reason = `The id of the ${what} has ${id.length} characters, expected at most ${most}`;
  return { action: 'refuse', code: 'INVALID_ENVELOPE', reason };
}

function findingOf(place: SequencePlace, sessionId: string, sequence: number): ReceiveFinding | undefined {
  const details = { ...place, sessionId, sequence };
  const where = `number ${sequence} of the session ${sessionId}`;
  switch (place.kind) {
    case 'next':
      return undefined;
    case 'gap': {
      const reason = `sequence gap detected: ${where} came, ${place.missing} from ${place.from} on have not`;
      return { action: 'warn', reason, details };
    }
    case 'late':
      return { action: 'warn', reason: `late sequence detected: ${where} came after a later one`, details };
    case 'duplicate':
      return { action: 'drop', reason: `duplicate sequence detected: ${where} has come before`, details };
    case 'stale':
      return {
        action: 'drop',
        reason: `stale sequence detected: ${where} is older than what is remembered`,
        details,
      };
  }
}
