import { createHash, createHmac, timingSafeEqual } from 'node:crypto';
import { z } from 'zod';
import { refused } from '../../../runtime/protocol/errors.ts';
import { Milliseconds } from '../../../runtime/protocol/milliseconds.ts';
import { parseOptions, requireFunction, requireMethod } from '../../../runtime/protocol/parse-options.ts';
import type { Principal } from '../../../runtime/protocol/principal.ts';
import type { Clock, NewSecret } from '../../../runtime/protocol/seams.ts';
import type { LangoPeer } from '../wire/byte-stream.ts';
import { randomFrom } from '../wire/random.ts';

/** Why a session has ended before its time. */
export type InvalidationReason =
  | 'logout'
  | 'reputation_drop'
  | 'repeated_failures'
  | 'manual_revoke'
  | 'security_event';

/**
 * What a peer has with us. The token is not kept, only its SHA-256.
 *
 * - `peerDid`, `peerId` who has begun it, and the peer whose streams it is good for.
 * - `createdAtMs`, `expiresAtMs` Unix milliseconds.
 */
export interface Session {
  readonly peerDid: string;
  readonly peerId: string;
  readonly createdAtMs: number;
  readonly expiresAtMs: number;
}

/** A session that was ended, when and why. */
export interface Invalidation {
  readonly peerDid: string;
  readonly reason: InvalidationReason;
  readonly atMs: number;
}

const Options = z.strictObject({
  ttlMs: Milliseconds.default(3_600_000),
  maxSessions: z.int().positive().max(10_000).default(1_000),
  maxHistory: z.int().nonnegative().default(100),
  failures: z.int().positive().default(5),
});

/**
 * - `ttlMs`       how long a session lasts. @default 1 hour
 * - `maxSessions` how many there are at once, up to 10,000. @default 1,000
 * - `maxHistory`  how many invalidations are remembered. @default 100
 * - `failures`    after how many failed requests, one after the other, a session ends. @default 5
 * - `onInvalidated` hears of each session that is ended before its time.
 */
export type SessionStoreOptions = z.input<typeof Options> & {
  readonly onInvalidated?: (invalidation: Invalidation) => void;
};

export interface SessionStoreDeps {
  readonly clock: Pick<Clock, 'now'>;
  readonly newSecret: NewSecret;
}

interface Kept {
  readonly session: Session;
  readonly digest: Buffer;
  failures: number;
}

const SECRET_BYTES = 32;

/**
 * The sessions that peers have here (seed 0), in memory alone: one a DID, and a new one replaces it. A token is bound to the peer
 * whose stream it was given out on.
 */
export class SessionStore {
  readonly #options: z.output<typeof Options>;
  readonly #listeners = new Set<(invalidation: Invalidation) => void>();
  readonly #deps: SessionStoreDeps;
  readonly #key: Buffer;
  readonly #byDid = new Map<string, Kept>();
  readonly #history: Invalidation[] = [];

  /** Throws INVALID_OPTIONS. */
  constructor({ onInvalidated, ...options }: SessionStoreOptions, deps: SessionStoreDeps) {
    requireMethod('SessionStore.clock', deps?.clock, 'now', 'a clock, such as that of systemSeams()');
    requireFunction('SessionStore.newSecret', deps.newSecret);
    this.#options = parseOptions(Options, options, 'SessionStore');
    if (onInvalidated !== undefined) this.#listeners.add(onInvalidated);
    this.#deps = deps;
    this.#key = randomFrom(deps.newSecret, SECRET_BYTES);
  }

  /**
   * Begins a session, in place of the one that the DID may have. Its token, 64 hexadecimal digits, can be had only here. Throws
   * REFUSED if there are as many sessions as there may be.
   */
  create({ id, did }: LangoPeer): { readonly session: Session; readonly token: string } {
    if (!this.#byDid.has(did) && this.#byDid.size >= this.#options.maxSessions) {
      this.cleanup();
      if (this.#byDid.size >= this.#options.maxSessions) throw refused('There are too many sessions');
    }
    const createdAtMs = this.#deps.clock.now();
    const session = { peerDid: did, peerId: id, createdAtMs, expiresAtMs: createdAtMs + this.#options.ttlMs };
    const secret = randomFrom(this.#deps.newSecret, SECRET_BYTES);
    const token = createHmac('sha256', this.#key).update(secret).update(did).digest('hex');
    this.#byDid.set(did, { session, digest: digestOf(token), failures: 0 });
    return { session, token };
  }

  /** The session of a DID, if it has not expired. */
  get(peerDid: string): Session | undefined {
    const kept = this.#byDid.get(peerDid);
    return kept !== undefined && !this.#removedWhenOver(kept) ? kept.session : undefined;
  }

  /** Whether a token is that of this DID's session, on a stream of the peer that has begun it. An expired one is removed. */
  validate(peerDid: string, token: string, peer: LangoPeer): boolean {
    return this.#isOf(this.#byDid.get(peerDid), digestOf(token), peer);
  }

  /** The session of a token that has come from this peer. All sessions are looked at, however early it is found. */
  findByToken(token: string, peer: LangoPeer): Session | undefined {
    const digest = digestOf(token);
    let found: Session | undefined;
    for (const kept of [...this.#byDid.values()]) if (this.#isOf(kept, digest, peer)) found = kept.session;
    return found;
  }

  /** All sessions that have not expired. */
  activeSessions(): Session[] {
    this.cleanup();
    return [...this.#byDid.values()].map(({ session }) => session);
  }

  /** Removes a session without a trace. Returns whether there was one. */
  remove(peerDid: string): boolean {
    return this.#byDid.delete(peerDid);
  }

  /** Removes what has expired. Returns how many. */
  cleanup(): number {
    return [...this.#byDid.values()].filter((kept) => this.#removedWhenOver(kept)).length;
  }

  /** Ends a session, and notes why. Returns whether there was one. */
  invalidate(peerDid: string, reason: InvalidationReason): boolean {
    if (!this.#byDid.delete(peerDid)) return false;
    const invalidation = { peerDid, reason, atMs: this.#deps.clock.now() };
    this.#history.push(invalidation);
    if (this.#history.length > this.#options.maxHistory) this.#history.shift();
    for (const listener of this.#listeners) listener(invalidation);
    return true;
  }

  /** Calls `listener` with each session that is ended before its time, until the returned function is called. */
  watch(listener: (invalidation: Invalidation) => void): () => void {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }

  /** Ends those sessions of which `condition` is true. Returns how many. */
  invalidateWhere(condition: (session: Session) => boolean, reason: InvalidationReason): number {
    return this.activeSessions().filter(
      (session) => condition(session) && this.invalidate(session.peerDid, reason),
    ).length;
  }

  /** Ends all sessions. Returns how many. */
  invalidateAll(reason: InvalidationReason): number {
    return this.invalidateWhere(() => true, reason);
  }

  /** The last invalidations, oldest first. */
  history(): readonly Invalidation[] {
    return [...this.#history];
  }

  /** Notes how a request has ended. Too many failures, one after the other, end the session. */
  noteOutcome(peerDid: string, isSuccess: boolean): void {
    const kept = this.#byDid.get(peerDid);
    if (kept === undefined) return;
    kept.failures = isSuccess ? 0 : kept.failures + 1;
    if (kept.failures >= this.#options.failures) this.invalidate(peerDid, 'repeated_failures');
  }

  #isOf(kept: Kept | undefined, digest: Buffer, { id, did }: LangoPeer): boolean {
    if (kept === undefined || this.#removedWhenOver(kept)) return false;
    const isToken = timingSafeEqual(kept.digest, digest);
    return isToken && kept.session.peerId === id && kept.session.peerDid === did;
  }

  #removedWhenOver({ session: { peerDid, expiresAtMs } }: Kept): boolean {
    return expiresAtMs <= this.#deps.clock.now() && this.#byDid.delete(peerDid);
  }
}

/** Of one length whatever the token's is, so that comparing tells nothing. */
const digestOf = (token: string): Buffer => createHash('sha256').update(token).digest();

/** The principal behind a session. It has proved its key, which says nothing of its trust: the roles are for whoever runs the system. */
export const principalOfSession = ({ peerDid, expiresAtMs }: Session): Principal => ({
  id: peerDid,
  kind: 'agent',
  roles: [],
  tier: 3,
  trust: { score: 0, source: 'lango' },
  expiresAtMs,
});
