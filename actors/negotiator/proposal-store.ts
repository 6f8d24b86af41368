import type { Taint } from '../../runtime/protocol/taint.ts';
import { type ProposalRecord, withTaint } from './proposal-record.ts';
import type { ProposalStanding } from './proposal-standing.ts';

/**
 * Where a negotiator keeps what it knows of its proposals. One that outlives it lets the next one see what was proposed and
 * how it ended. What had not ended has then ended with the negotiator; unless the store knows how it stood, and lets it go
 * on.
 */
export interface ProposalStore {
  get(proposalId: string): ProposalRecord | undefined;
  /**
   * A `standing` is given, and looked at, only where `standingOf` is there. Without one the record before it still says how
   * it stands; what is over does not stand.
   */
  put(record: ProposalRecord, standing?: ProposalStanding): void;
  /** In the order in which they were first put. */
  list(): readonly ProposalRecord[];
  standingOf?(proposalId: string): ProposalStanding | undefined;
  /** Resolves when everything that was put outlives whatever may end. @default it does at once */
  whenKept?(): Promise<void>;
}

/** The same store, whose records have where what was written came from outside. */
export const marking = (store: ProposalStore, taint: () => Taint | undefined): ProposalStore => ({
  get: (proposalId) => store.get(proposalId),
  put: (record, standing) => store.put(withTaint(record, taint()), standing),
  list: () => store.list(),
  ...(store.standingOf && { standingOf: store.standingOf.bind(store) }),
  ...(store.whenKept && { whenKept: store.whenKept.bind(store) }),
});

/** Calls `then` when everything that was put is kept: nobody is told of an outcome that a crash could undo. */
export function afterKept(store: ProposalStore, then: () => void): void {
  if (store.whenKept === undefined) then();
  else void store.whenKept().then(then);
}

const CAPACITY = 1_000;

/** Keeps everything that goes on, and of what is over the newest. */
export class InMemoryProposalStore implements ProposalStore {
  readonly #capacity: number;
  readonly #onForgotten: (proposalId: string) => void;
  readonly #records = new Map<string, ProposalRecord>();
  #over = 0;

  /** `capacity`: how many are kept of those that are over; `onForgotten` hears of the others. */
  constructor(capacity: number = CAPACITY, onForgotten: (proposalId: string) => void = () => undefined) {
    this.#capacity = capacity;
    this.#onForgotten = onForgotten;
  }

  get(proposalId: string): ProposalRecord | undefined {
    return this.#records.get(proposalId);
  }

  put(record: ProposalRecord): void {
    const { proposalId } = record.proposal;
    const wasOver = isOver(this.#records.get(proposalId));
    this.#records.set(proposalId, record);
    this.#over += Number(isOver(record)) - Number(wasOver);
    if (this.#over > this.#capacity) this.#forgetOldest();
  }

  list(): readonly ProposalRecord[] {
    return [...this.#records.values()];
  }

  #forgetOldest(): void {
    for (const [proposalId, record] of this.#records) {
      if (!isOver(record)) continue;
      this.#records.delete(proposalId);
      this.#over -= 1;
      this.#onForgotten(proposalId);
      return;
    }
  }
}

const isOver = (record: ProposalRecord | undefined): boolean => record?.isOver === true;
