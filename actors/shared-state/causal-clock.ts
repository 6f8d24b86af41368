import type { SyncMessage } from './sync-message.ts';
import type { SyncSnapshot } from './update-log.ts';

/** Whether an update can be applied now. */
export type CausalPlace = 'ready' | 'waiting' | 'duplicate' | 'replayed';

type Counted = Pick<SyncMessage, 'sourceAgentId' | 'session' | 'since' | 'vectorClock'>;

/** `isConfirmed`: the member has said where it goes on counting; until then the count is that of its stay before. */
interface Stay {
  readonly session: number;
  readonly count: number;
  readonly isConfirmed: boolean;
}

const NEVER: Stay = { session: -1, count: 0, isConfirmed: false };

/**
 * How many updates of each member have been applied here: a vector clock of messages (Mattern, Fidge), which says what
 * an update builds on.
 *
 * A member that comes back begins a new stay. It counts on from what the others tell it, and says so with its first
 * message after that; what it had sent in earlier stays counts no more.
 */
export class CausalClock {
  readonly #own: string;
  #session: number;
  readonly #stays = new Map<string, Stay>();
  #since: number | undefined;
  #ownCount = 0;

  constructor(own: string, session: number) {
    this.#own = own;
    this.#session = session;
  }

  get session(): number {
    return this.#session;
  }

  /** Where our own counting began in this stay; undefined before `start`. */
  get since(): number | undefined {
    return this.#since;
  }

  /**
   * Goes on from what a log holds, before `start`: `updates` of anybody's came after its clock was taken. The stay is later
   * than the one that the log tells of, and none of its counts is used again, whatever the clock of the machine says.
   */
  resume({ vectorClock, sessions }: Pick<SyncSnapshot, 'vectorClock' | 'sessions'>, updates: number): void {
    this.merge(vectorClock, sessions);
    this.#session = Math.max(this.#session, (sessions[this.#own] ?? -1) + 1);
    this.#ownCount += updates;
  }

  /** Counts our own updates from here on. What others say of them is ignored from then on. */
  start(): void {
    this.#since ??= this.#ownCount;
  }

  /** Counts one update of our own. */
  countOwn(): void {
    this.#ownCount += 1;
  }

  /** Notes the stay that a message belongs to, and says whether it is a new or an earlier one. */
  greet({ sourceAgentId, session, since }: Counted): 'known' | 'new' | 'replayed' {
    const stay = this.#stayOf(sourceAgentId);
    if (session < stay.session) return 'replayed';
    const isNew = session > stay.session;
    if (isNew || !stay.isConfirmed) {
      this.#stays.set(sourceAgentId, {
        session,
        count: since ?? stay.count,
        isConfirmed: since !== undefined,
      });
    }
    return isNew ? 'new' : 'known';
  }

  /** Says where an update stands whose stay has been greeted. */
  place({ sourceAgentId, session, vectorClock }: Counted): CausalPlace {
    const stay = this.#stayOf(sourceAgentId);
    if (session < stay.session) return 'replayed';
    const count = vectorClock[sourceAgentId] ?? 0;
    if (count <= stay.count) return 'duplicate';
    if (count > stay.count + 1) return 'waiting';
    return this.isBehind(vectorClock, sourceAgentId) ? 'waiting' : 'ready';
  }

  /** Counts an update that `place` called ready. */
  advance({ sourceAgentId, session, vectorClock }: Counted): void {
    this.#stays.set(sourceAgentId, { session, count: vectorClock[sourceAgentId] ?? 0, isConfirmed: true });
  }

  /** Says whether `vectorClock` counts updates that have not been applied here; those of `except` do not matter. */
  isBehind(vectorClock: Readonly<Record<string, number>>, except?: string): boolean {
    return Object.entries(vectorClock).some(
      ([agentId, count]) =>
        agentId !== this.#own && agentId !== except && count > this.#stayOf(agentId).count,
    );
  }

  /** Says whether both have applied the same updates. */
  isEqual(vectorClock: Readonly<Record<string, number>>): boolean {
    const own = this.toRecord();
    return [...Object.keys(own), ...Object.keys(vectorClock)].every(
      (agentId) => (own[agentId] ?? 0) === (vectorClock[agentId] ?? 0),
    );
  }

  /** Counts what a state brought: of each member the later stay, in one stay the higher count. */
  merge(vectorClock: Readonly<Record<string, number>>, sessions: Readonly<Record<string, number>>): void {
    for (const [agentId, count] of Object.entries(vectorClock)) {
      const session = sessions[agentId];
      if (agentId === this.#own) this.#learnOwn(count);
      else if (session !== undefined) this.#mergeOne(agentId, session, count);
    }
  }

  toRecord(): Record<string, number> {
    const others = [...this.#stays].map(([agentId, { count }]) => [agentId, count] as const);
    return Object.fromEntries([[this.#own, this.#ownCount], ...others]);
  }

  /** The stays that `toRecord` counts; of a member without one only itself can say what its count means. */
  sessions(): Record<string, number> {
    const confirmed = [...this.#stays].filter(([, { isConfirmed }]) => isConfirmed);
    const others = confirmed.map(([agentId, { session }]) => [agentId, session] as const);
    return Object.fromEntries([[this.#own, this.#session], ...others]);
  }

  #learnOwn(count: number): void {
    if (this.#since === undefined) this.#ownCount = Math.max(this.#ownCount, count);
  }

  #mergeOne(agentId: string, session: number, count: number): void {
    const stay = this.#stayOf(agentId);
    if (session < stay.session) return;
    if (session === stay.session && stay.isConfirmed && count <= stay.count) return;
    this.#stays.set(agentId, { session, count, isConfirmed: true });
  }

  #stayOf(agentId: string): Stay {
    return this.#stays.get(agentId) ?? NEVER;
  }
}
