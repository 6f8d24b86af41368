import type { ProposalRecord } from './proposal-record.ts';

/**
 * Where a negotiator keeps what it knows of its proposals. One that outlives it lets the next one see what was proposed and
 * how it ended; what had not ended has then ended with the negotiator.
 */
export interface ProposalStore {
  get(proposalId: string): ProposalRecord | undefined;
  put(record: ProposalRecord): void;
  /** In the order in which they were first put. */
  list(): readonly ProposalRecord[];
}

const CAPACITY = 1_000;

/** Keeps everything that goes on, and of what is over the newest. */
export class InMemoryProposalStore implements ProposalStore {
  readonly #capacity: number;
  readonly #records = new Map<string, ProposalRecord>();
  #over = 0;

  /** `capacity`: how many are kept of those that are over. */
  constructor(capacity: number = CAPACITY) {
    this.#capacity = capacity;
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
      return;
    }
  }
}

const isOver = (record: ProposalRecord | undefined): boolean => record?.isOver === true;
