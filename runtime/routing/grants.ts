import { z } from 'zod';
import type { A2AEnvelope, A2AMessageType } from '../protocol/envelope.ts';
import { parseOptions } from '../protocol/parse-options.ts';
import type { Clock } from '../protocol/seams.ts';

/** The message types that may answer one kind of envelope, and those that are the last answer. */
interface Answers {
  readonly types: ReadonlySet<A2AMessageType>;
  readonly finals: ReadonlySet<A2AMessageType>;
}

const answers = (types: readonly A2AMessageType[], finals: readonly A2AMessageType[]): Answers => ({
  types: new Set(types),
  finals: new Set(finals),
});

const WORK: readonly A2AMessageType[] = [
  'response',
  'notification',
  'stream-start',
  'stream-data',
  'stream-end',
  'error',
];
const ANSWERS: Partial<Record<A2AMessageType, Answers>> = {
  request: answers(WORK, ['response', 'stream-end', 'error']),
  'stream-start': answers(WORK, ['response', 'stream-end', 'error']),
  'task-proposal': answers(['task-accept', 'task-reject', 'error'], ['task-reject', 'error']),
  // An agent that is told that it has a task, or that another takes it, may deny that.
  'task-accept': answers(['task-reject'], ['task-reject']),
};
/** What the holder of an assignment may send: it renews and gives back with the same types that answer a proposal. */
const ASSIGNMENT = answers([...WORK, 'task-accept', 'task-reject'], ['task-reject']);

/** The right of `holder` to answer `peer`'s envelope `id`. */
interface Grant {
  readonly id: string;
  readonly holder: string;
  readonly peer: string;
  readonly answers: Answers;
  readonly expiresAtMs: number;
}

/** A reply that asks to pass under a grant. */
export interface ReplyClaim {
  readonly inReplyTo: string;
  readonly sender: string;
  readonly recipient: string;
  readonly type: A2AMessageType;
}

/**
 * - `capacity` grants kept; above it the oldest are dropped. The same bound holds for assignments on their own.
 * - `ttlMs`    how long the answer to an envelope without a deadline may take.
 */
const GrantOptions = z.strictObject({
  capacity: z.int().positive().default(10_000),
  ttlMs: z.number().positive().default(600_000),
});
export type GrantOptions = z.input<typeof GrantOptions>;

/**
 * Who may answer whom against the tier rules. The recipient of a delivered request, proposal or stream holds one grant.
 *
 * An answer under a grant is exempt from tier and escalation. The last answer uses the grant up. A `task-accept` turns it into
 * one for the accepted work, which lasts until `end`.
 */
export class Grants {
  readonly #clock: Pick<Clock, 'now'>;
  readonly #capacity: number;
  readonly #ttlMs: number;
  readonly #open = new Map<string, Grant>();
  readonly #assigned = new Map<string, Grant>();

  constructor(clock: Pick<Clock, 'now'>, options: GrantOptions = {}) {
    const { capacity, ttlMs } = parseOptions(GrantOptions, options, 'grants');
    this.#clock = clock;
    this.#capacity = capacity;
    this.#ttlMs = ttlMs;
  }

  get size(): number {
    return this.#open.size + this.#assigned.size;
  }

  /** Grants `holder`, to whom `envelope` was delivered, to answer it, if it is of a type that is answered. */
  hold(envelope: Pick<A2AEnvelope, 'id' | 'sender' | 'type' | 'payload' | 'metadata'>, holder: string): void {
    const allowed = ANSWERS[envelope.type];
    if (allowed === undefined) return;
    const { id, sender: peer } = envelope;
    const grant = { id, holder, peer, answers: allowed, expiresAtMs: this.#expiryOf(envelope) };
    this.#keep(this.#open, grant);
  }

  /** Says whether the reply may pass; changes nothing. */
  permits(reply: ReplyClaim): boolean {
    return this.#find(reply) !== undefined;
  }

  /** Notes that the reply was delivered. The last one ends the grant; a `task-accept` turns it into one for the work. */
  use(reply: ReplyClaim): void {
    const grant = this.#find(reply);
    if (grant === undefined) return;
    const { answers: allowed } = grant;
    if (reply.type !== 'task-accept' && !allowed.finals.has(reply.type)) return;
    this.end(grant.id, grant.holder, grant.peer);
    if (reply.type !== 'task-accept') return;
    this.#keep(this.#assigned, { ...grant, answers: ASSIGNMENT, expiresAtMs: Number.POSITIVE_INFINITY });
  }

  /** Ends the grant of `holder` for `peer`'s envelope, which was settled unanswered, or whose assignment is over. */
  end(id: string, holder: string, peer: string): void {
    const key = keyOf(id, holder, peer);
    this.#open.delete(key);
    this.#assigned.delete(key);
  }

  #find({ inReplyTo, sender, recipient, type }: ReplyClaim): Grant | undefined {
    const key = keyOf(inReplyTo, sender, recipient);
    const grant = this.#open.get(key) ?? this.#assigned.get(key);
    if (grant === undefined || grant.holder !== sender || grant.peer !== recipient) return undefined;
    if (!grant.answers.types.has(type)) return undefined;
    if (this.#clock.now() < grant.expiresAtMs) return grant;
    this.#open.delete(key);
    return undefined;
  }

  #keep(grants: Map<string, Grant>, grant: Grant): void {
    const key = keyOf(grant.id, grant.holder, grant.peer);
    grants.delete(key);
    if (grants.size >= this.#capacity) this.#drop(grants);
    grants.set(key, grant);
  }

  /** Makes room: drops the expired among the oldest, and at least the oldest. */
  #drop(grants: Map<string, Grant>): void {
    const nowMs = this.#clock.now();
    let mustGo = true;
    for (const [key, grant] of grants) {
      if (!mustGo && nowMs < grant.expiresAtMs) return;
      grants.delete(key);
      mustGo = false;
    }
  }

  #expiryOf({ type, payload, metadata }: Pick<A2AEnvelope, 'type' | 'payload' | 'metadata'>): number {
    if (metadata?.deadlineAtMs !== undefined) return metadata.deadlineAtMs;
    const { deadlineMs } = type === 'task-proposal' ? ((payload ?? {}) as { deadlineMs?: unknown }) : {};
    return this.#clock.now() + (typeof deadlineMs === 'number' ? deadlineMs : this.#ttlMs);
  }
}

const keyOf = (id: string, holder: string, peer: string): string => `${id}\n${holder}\n${peer}`;
