import { z } from 'zod';
import { faultsOf } from '../../runtime/protocol/payload-faults.ts';
import { TaskProposalPayload } from '../../runtime/protocol/task-proposal.ts';
import { Taint } from '../../runtime/protocol/taint.ts';
import type { AgentPort } from '../agent-port/agent-port.ts';
import type { ProposalAnswer, ProposalRecord } from './proposal-record.ts';
import { ProposalStanding } from './proposal-standing.ts';
import { InMemoryProposalStore, type ProposalStore } from './proposal-store.ts';
import type { TaskProposal } from './task-proposal.ts';

/** Under which kind an agent's records of proposals are kept. */
const KIND = 'proposal';

const text = z.string().exactOptional();
const number = z.number().exactOptional();

const KeptTask = z.object({
  ...TaskProposalPayload.pick({ taskDescription: true, estimatedComplexity: true }).shape,
  proposalId: z.string(),
  requiredCapabilities: z.array(z.string()),
  deadlineMs: z.number(),
  proposerAgentId: z.string(),
  status: z.enum(['pending', 'accepted', 'rejected', 'timed-out']),
  acceptedBy: text,
  rejectionReason: text,
  alternativeSuggestion: text,
  correlationId: z.string(),
  estimatedCompletionMs: number,
  epoch: number,
  isHeld: z.boolean(),
  proposedAtMs: z.number(),
}) satisfies z.ZodType<TaskProposal>;

const KeptAnswer = z.object({
  agentId: z.string(),
  type: z.enum(['task-accept', 'task-reject']),
  effect: z.enum(['counted', 'double', 'contradictory', 'late', 'foreign']),
  atMs: z.number(),
  envelopeId: text,
  estimatedCompletionMs: number,
  reason: text,
  alternative: text,
}) satisfies z.ZodType<ProposalAnswer>;

const KeptRecord = z.object({
  proposal: KeptTask,
  asked: z.array(z.string()),
  answers: z.array(KeptAnswer),
  isOver: z.boolean(),
  taint: Taint.exactOptional(),
}) satisfies z.ZodType<ProposalRecord>;

const KeptProposal = z.object({ record: KeptRecord, standing: ProposalStanding.optional() });
type KeptProposal = z.infer<typeof KeptProposal>;

/**
 * - `capacity`     how many are kept of those that are over. @default 1_000
 * - `onUnreadable` hears of what was left and cannot be read; it stays where it is, and the others go on.
 */
export interface KeptProposalsOptions {
  readonly capacity?: number;
  readonly onUnreadable: (proposalId: string, why: string) => void;
}

/** Of an agent's records, what is needed here. */
type Records = NonNullable<AgentPort['records']>;

/** The proposals of a durable agent: in memory, and among its records, with which they outlive thread and process. */
export class KeptProposals implements ProposalStore {
  readonly #records: Records;
  readonly #memory: InMemoryProposalStore;
  readonly #standings = new Map<string, ProposalStanding>();

  constructor(records: Records, { capacity, onUnreadable }: KeptProposalsOptions) {
    this.#records = records;
    this.#memory = new InMemoryProposalStore(capacity, (proposalId) =>
      records.put(KIND, proposalId, undefined),
    );
    const left = records.takeLeft(KIND).flatMap(({ key, value }) => {
      const { data, error } = KeptProposal.safeParse(value);
      if (data?.record.proposal.proposalId === key) return [data];
      onUnreadable(key, error === undefined ? 'it is about another proposal' : faultsOf(error, value));
      return [];
    });
    left.sort((one, other) => one.record.proposal.proposedAtMs - other.record.proposal.proposedAtMs);
    for (const { record, standing } of left) this.#remember(record, standing);
  }

  get(proposalId: string): ProposalRecord | undefined {
    return this.#memory.get(proposalId);
  }

  list(): readonly ProposalRecord[] {
    return this.#memory.list();
  }

  standingOf(proposalId: string): ProposalStanding | undefined {
    return this.#standings.get(proposalId);
  }

  put(record: ProposalRecord, standing?: ProposalStanding): void {
    const { proposalId } = record.proposal;
    this.#records.put(KIND, proposalId, {
      record,
      standing: record.isOver ? undefined : (standing ?? this.standingOf(proposalId)),
    } satisfies { record: ProposalRecord; standing: KeptProposal['standing'] });
    this.#remember(record, standing);
  }

  whenKept(): Promise<void> {
    return this.#records.whenKept();
  }

  #remember(record: ProposalRecord, standing: ProposalStanding | undefined): void {
    const { proposalId } = record.proposal;
    if (record.isOver) this.#standings.delete(proposalId);
    else if (standing !== undefined) this.#standings.set(proposalId, standing);
    this.#memory.put(record);
  }
}
