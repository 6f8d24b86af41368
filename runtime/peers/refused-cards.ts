import type { PeerSession } from './peer-session.ts';

/** So many cards of one session that were not taken are told of. */
const MAX_TOLD = 100;
/** After so many that are no cards, no more of that session are read: to say what is wrong with one takes long. */
const MAX_UNREADABLE = 100;

/** What nodes have shown that was not taken, in each session: nobody is kept busy by it, nor are those who read of it. */
export class RefusedCards {
  readonly #tell: (reason: string) => void;
  readonly #of = new WeakMap<PeerSession, { told: number; unreadable: number }>();

  constructor(tell: (reason: string) => void) {
    this.#tell = tell;
  }

  /** Whether cards of this session are read. */
  mayRead(session: PeerSession): boolean {
    return this.#countsOf(session).unreadable < MAX_UNREADABLE;
  }

  /** One was no card. */
  unreadable(session: PeerSession): void {
    this.#countsOf(session).unreadable += 1;
  }

  refused(session: PeerSession, reason: string): void {
    const counts = this.#countsOf(session);
    counts.told += 1;
    if (counts.told < MAX_TOLD) this.#tell(reason);
    else if (counts.told === MAX_TOLD) this.#tell(`${reason}; of others in this session nothing is told`);
  }

  #countsOf(session: PeerSession): { told: number; unreadable: number } {
    const known = this.#of.get(session);
    if (known !== undefined) return known;
    const counts = { told: 0, unreadable: 0 };
    this.#of.set(session, counts);
    return counts;
  }
}
