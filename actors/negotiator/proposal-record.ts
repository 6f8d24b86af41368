import { mergeTaint, type Taint } from '../../runtime/protocol/taint.ts';
import type { ProposalStatus, TaskProposal } from './task-proposal.ts';

/**
 * What became of an answer.
 *
 * - `counted`       it changed something.
 * - `double`        the same agent had said so.
 * - `contradictory` it had said the opposite, and that stands.
 * - `late`          the proposal was decided, or its deadline had passed.
 * - `foreign`       of an agent that was not asked.
 */
export type AnswerEffect = 'counted' | 'double' | 'contradictory' | 'late' | 'foreign';

/**
 * One answer to a proposal, as it came to the proposer. `reason` and `alternative` of a rejection; a router that refused
 * to deliver the proposal rejects for the agent, with its error code.
 */
export interface ProposalAnswer {
  readonly agentId: string;
  readonly type: 'task-accept' | 'task-reject';
  readonly effect: AnswerEffect;
  readonly atMs: number;
  readonly envelopeId?: string;
  readonly estimatedCompletionMs?: number;
  readonly reason?: string;
  readonly alternative?: string;
}

/**
 * What one side knows of a proposal.
 *
 * - `asked`   whom it went to; at the agent that was asked, nobody.
 * - `answers` the last 100, in the order in which they came.
 * - `isOver`  nothing can change any more.
 * - `taint`   where it came from outside: what this side had in it when it was written. Whoever reads it has that.
 */
export interface ProposalRecord {
  readonly proposal: TaskProposal;
  readonly asked: readonly string[];
  readonly answers: readonly ProposalAnswer[];
  readonly isOver: boolean;
  readonly taint?: Taint;
}

/** The record with where what is written now came from outside; it has what it had for ever. */
export function withTaint(record: ProposalRecord, taint: Taint | undefined): ProposalRecord {
  const all = mergeTaint(record.taint, taint);
  return all === undefined || all === record.taint ? record : { ...record, taint: all };
}

const ANSWERS_KEPT = 100;

/** The record with one more answer. */
export const withAnswer = (record: ProposalRecord, answer: ProposalAnswer): ProposalRecord => ({
  ...record,
  answers: [...record.answers, answer].slice(-ANSWERS_KEPT),
});

/** The fields of a proposal that change. */
export type ProposalChange = Partial<
  Pick<
    TaskProposal,
    'acceptedBy' | 'rejectionReason' | 'alternativeSuggestion' | 'estimatedCompletionMs' | 'epoch' | 'isHeld'
  > & { readonly status: ProposalStatus }
>;

export const withChange = (
  record: ProposalRecord,
  change: ProposalChange,
  isOver = record.isOver,
): ProposalRecord => ({
  ...record,
  proposal: { ...record.proposal, ...change },
  isOver,
});
