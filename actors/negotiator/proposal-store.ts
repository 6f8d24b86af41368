import { z } from 'zod';
import type { PersistedMachine, PersistedTimer } from '../../runtime/machine/machine-host.ts';
import { PathHop } from '../../runtime/protocol/envelope.ts';
import { faultsOf } from '../../runtime/protocol/payload-faults.ts';
import { mergeTaint, type Taint } from '../../runtime/protocol/taint.ts';
import { Behalf } from '../../runtime/public.ts';
import type { AgentPort } from '../agent-port/agent-port.ts';
import { AcceptanceMessage } from './negotiation-message.ts';
import { ProposalRecord } from './proposal.ts';
import { overdueAfterMs } from './responder.machine.ts';

/**
 * Where a negotiator keeps what it knows of its proposals. One that outlives it lets the next one see what was proposed and
 * how it ended. What had not ended has then ended with the negotiator; unless the store has the machines too, and lets them
 * go on.
 */
export interface ProposalStore {
  get(proposalId: string): ProposalRecord | undefined;
  /**
   * A `machine` is given, and looked at, only where `machineOf` is there. Without one the machine stays as it was put last;
   * what is over has none.
   */
  put(record: ProposalRecord, machine?: PersistedProposal): void;
  /** In the order in which they were first put. */
  list(): readonly ProposalRecord[];
  machineOf?(proposalId: string): PersistedProposal | undefined;
  /** Resolves when everything that was put outlives whatever may end. @default it does at once */
  whenKept?(): Promise<void>;
}

/** The same store, whose records have where what was written came from outside; a record has what it had for ever. */
export const tainting = (store: ProposalStore, taint: () => Taint | undefined): ProposalStore => ({
  get: (proposalId) => store.get(proposalId),
  put: (record, machine) => {
    const before = store.get(record.proposal.proposalId)?.taint;
    const all = mergeTaint(mergeTaint(before, record.taint), taint());
    store.put(all === undefined || all === record.taint ? record : { ...record, taint: all }, machine);
  },
  list: () => store.list(),
  ...(store.machineOf && { machineOf: store.machineOf.bind(store) }),
  ...(store.whenKept && { whenKept: store.whenKept.bind(store) }),
});

/**
 * The same store, by which a negotiation that has begun goes on: what is not kept of it is told to `onFailed`, and known here
 * until it is kept. A proposal that is new is refused by what the store throws.
 */
export function unfailing(
  store: ProposalStore,
  onFailed: (error: unknown, proposalId?: string) => void,
): ProposalStore {
  const unkept = new Map<string, Unkept>();
  const get = (proposalId: string): ProposalRecord | undefined =>
    unkept.get(proposalId)?.record ?? store.get(proposalId);
  return {
    get,
    put: (record, machine) => {
      const { proposalId } = record.proposal;
      const isNew = get(proposalId) === undefined;
      try {
        store.put(record, machine);
        unkept.delete(proposalId);
      } catch (error) {
        if (isNew) throw error;
        unkept.set(proposalId, { record, machine });
        const [oldest] = unkept.size > CAPACITY ? unkept.keys() : [];
        if (oldest !== undefined) unkept.delete(oldest);
        onFailed(error, proposalId);
      }
    },
    list: () => store.list().map((kept) => unkept.get(kept.proposal.proposalId)?.record ?? kept),
    ...(store.machineOf && {
      machineOf: (proposalId: string) => unkept.get(proposalId)?.machine ?? store.machineOf?.(proposalId),
    }),
    ...(store.whenKept && {
      whenKept: async () => {
        try {
          await store.whenKept?.();
        } catch (error) {
          onFailed(error);
        }
      },
    }),
  };
}

interface Unkept {
  readonly record: ProposalRecord;
  readonly machine: PersistedProposal | undefined;
}

/** Calls `then` when everything that was put is kept: nobody is told of an outcome that a crash could undo. */
export function afterStored(store: ProposalStore, then: () => void): void {
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

// What outlives a thread and a process. The names `standing`, `side`, `made` and `got` are those of journals.

const timersOf = <Id extends string>(...ids: readonly Id[]) =>
  z.array(
    z.object({
      id: z.enum(ids),
      event: z.object({ type: z.string() }),
      atMs: z.number(),
      delayMs: z.number(),
    }),
  );
const AgentIds = z.array(z.string());
const Ms = z.number().nonnegative();

/**
 * A proposal's machine at its proposer, and what it needs to answer whoever accepts.
 *
 * - `acceptances`   the last of each agent, with the id of its envelope.
 * - `justification` why a lower tier proposes to a higher one.
 * - `delegation`    what the work in which it was made passes on.
 */
const PersistedOutgoing = z.object({
  side: z.literal('made'),
  run: z.object({
    value: z.union([z.literal('assigned'), z.object({ pending: z.enum(['open', 'confirming']) })]),
    context: z.object({
      asked: AgentIds,
      willing: AgentIds,
      out: AgentIds,
      // Journals of former versions have it in the acceptances alone.
      plain: AgentIds.optional(),
      holder: z.string().optional(),
      epoch: z.int().nonnegative(),
      isLate: z.boolean(),
      reason: z.string().optional(),
      alternativesLeft: z.int().nonnegative(),
      deadlineMs: Ms,
      leaseMs: Ms,
    }),
    timers: timersOf('deadline', 'lease'),
  }),
  acceptances: z.array(
    z.object({ agentId: z.string(), message: AcceptanceMessage, envelopeId: z.string().optional() }),
  ),
  justification: z.string().optional(),
  delegation: z
    .object({
      ...Behalf.shape,
      path: z.array(PathHop),
      deadlineAtMs: z.number().optional(),
      hops: z.int().nonnegative().optional(),
      isLimited: z.boolean(),
    })
    .optional(),
});
export type PersistedOutgoing = z.infer<typeof PersistedOutgoing>;

/** What journals of former versions have beside the machine, which has it now. */
const FormerIncoming = {
  isPlain: z.boolean().optional(),
  estimateMs: Ms.optional(),
  reason: z.string().optional(),
  alternative: z.string().optional(),
  overdueAtMs: z.number().optional(),
};

/**
 * A proposal's machine at an agent that was asked.
 *
 * - `envelopeId` of the proposal, which every answer names.
 * - `round`      of its last acceptance.
 * - `behalf`     on whose behalf it was proposed.
 */
const PersistedIncoming = z.object({
  side: z.literal('got'),
  run: z.object({
    value: z.enum(['considering', 'offered', 'assigned']),
    context: z.object({
      deadlineMs: Ms,
      holdMs: Ms,
      repeatMs: Ms,
      isPlain: z.boolean().optional(),
      epoch: z.int().positive().optional(),
      leaseLeftMs: Ms,
      estimateMs: Ms.optional(),
      reason: z.string().optional(),
      alternative: z.string().optional(),
    }),
    timers: timersOf('deadline', 'offer', 'repeat', 'lease', 'renewal', 'overdue'),
  }),
  envelopeId: z.string(),
  round: z.int(),
  behalf: Behalf.optional(),
  ...FormerIncoming,
});
export type PersistedIncoming = z.infer<typeof PersistedIncoming>;

/** A proposal that is not over, as one side of it has it; from this it goes on after the end of a thread or process. */
export const PersistedProposal = z.discriminatedUnion('side', [PersistedOutgoing, PersistedIncoming]);
export type PersistedProposal = z.infer<typeof PersistedProposal>;

/** `clock.now()` knows whole milliseconds: so much later a lease that goes on ends at the proposer, and earlier at the agent. */
const CLOCK_GRAIN_MS = 1;

/** The proposer's machine as it goes on. */
export function outgoingMachine({ run, acceptances }: PersistedOutgoing): PersistedMachine {
  const plain = acceptances.flatMap(({ agentId, message }) => (message.round === undefined ? [agentId] : []));
  return { ...run, context: { plain, ...run.context }, timers: withLease(run.timers, CLOCK_GRAIN_MS) };
}

/** The machine of an agent that was asked as it goes on. */
export function incomingMachine(persisted: PersistedIncoming): PersistedMachine {
  const { run, isPlain = false, estimateMs = 0, reason, alternative, overdueAtMs } = persisted;
  const former = { isPlain, reason, alternative, ...(estimateMs > 0 && { estimateMs }) };
  const timers: readonly PersistedTimer[] = withLease(run.timers, -CLOCK_GRAIN_MS);
  const overdue = overdueAtMs !== undefined && {
    id: 'overdue',
    event: { type: 'work.overdue' },
    atMs: overdueAtMs,
    delayMs: overdueAfterMs(estimateMs),
  };
  return {
    ...run,
    context: { ...former, ...run.context },
    timers: overdue === false ? timers : [...timers, overdue],
  };
}

const withLease = (timers: readonly PersistedTimer[], ms: number): readonly PersistedTimer[] =>
  timers.map((due) =>
    due.id === 'lease' ? { ...due, atMs: due.atMs + ms, delayMs: due.delayMs + ms } : due,
  );

/** Under which kind an agent's records of proposals are kept. */
const KIND = 'proposal';

const Journalled = z.object({ record: ProposalRecord, standing: PersistedProposal.optional() });

/**
 * - `capacity`     how many are kept of those that are over. @default 1_000
 * - `onUnreadable` hears of what was left and cannot be read; it stays where it is, and the others go on.
 */
export interface JournalledProposalsOptions {
  readonly capacity?: number;
  readonly onUnreadable: (proposalId: string, why: string) => void;
}

/**
 * The proposals of a durable agent: in memory, and among its records in the journal, with which they outlive thread and
 * process.
 */
export class JournalledProposals implements ProposalStore {
  readonly #records: NonNullable<AgentPort['records']>;
  readonly #memory: InMemoryProposalStore;
  readonly #machines = new Map<string, PersistedProposal>();

  constructor(
    records: NonNullable<AgentPort['records']>,
    { capacity, onUnreadable }: JournalledProposalsOptions,
  ) {
    this.#records = records;
    this.#memory = new InMemoryProposalStore(capacity, (proposalId) =>
      records.put(KIND, proposalId, undefined),
    );
    const left = records.takeLeft(KIND).flatMap(({ key, value }) => {
      const { data, error } = Journalled.safeParse(value);
      if (data?.record.proposal.proposalId === key) return [data];
      onUnreadable(key, error === undefined ? 'it is about another proposal' : faultsOf(error, value));
      return [];
    });
    left.sort((one, other) => one.record.proposal.proposedAtMs - other.record.proposal.proposedAtMs);
    for (const { record, standing: machine } of left) this.#remember(record, machine);
  }

  get(proposalId: string): ProposalRecord | undefined {
    return this.#memory.get(proposalId);
  }

  list(): readonly ProposalRecord[] {
    return this.#memory.list();
  }

  machineOf(proposalId: string): PersistedProposal | undefined {
    return this.#machines.get(proposalId);
  }

  put(record: ProposalRecord, machine?: PersistedProposal): void {
    const { proposalId } = record.proposal;
    const latest = record.isOver ? undefined : (machine ?? this.machineOf(proposalId));
    this.#records.put(KIND, proposalId, { record, standing: latest });
    this.#remember(record, machine);
  }

  whenKept(): Promise<void> {
    return this.#records.whenKept();
  }

  #remember(record: ProposalRecord, machine: PersistedProposal | undefined): void {
    const { proposalId } = record.proposal;
    if (record.isOver) this.#machines.delete(proposalId);
    else if (machine !== undefined) this.#machines.set(proposalId, machine);
    this.#memory.put(record);
  }
}
