import type { Clock } from '../../runtime/protocol/seams.ts';
import { answerEffect } from './answer-effect.ts';
import type { AcceptanceMessage, RejectionMessage } from './negotiation-message.ts';
import type { NegotiationEvent } from './negotiation-event.ts';
import {
  type AnswerEffect,
  type ProposalAnswer,
  type ProposalRecord,
  withAnswer,
} from './proposal-record.ts';
import type { ProposalStore } from './proposal-store.ts';
import type { ProposerContext } from './proposer.machine.ts';

/** What an agent says to a proposal; `envelopeId` is undefined where the router speaks for it. */
export interface Answered<Message> {
  readonly agentId: string;
  readonly message: Message;
  readonly envelopeId: string | undefined;
}

export interface AnswerBookDeps {
  readonly clock: Pick<Clock, 'now'>;
  readonly store: ProposalStore;
  readonly note: (event: NegotiationEvent) => void;
}

/**
 * Writes down every answer to a proposal with what became of it. `context` is how the proposal stands; undefined when it
 * is over.
 */
export class AnswerBook {
  readonly #deps: AnswerBookDeps;

  constructor(deps: AnswerBookDeps) {
    this.#deps = deps;
  }

  /** What confirms or renews an assignment is no new answer. */
  accepted(
    proposalId: string,
    context: ProposerContext | undefined,
    { agentId, envelopeId, message: { epoch, estimatedCompletionMs } }: Answered<AcceptanceMessage>,
  ): void {
    if (epoch !== undefined) return;
    const estimate = estimatedCompletionMs === undefined ? {} : { estimatedCompletionMs };
    this.#keep(proposalId, context, { agentId, type: 'task-accept', ...named(envelopeId), ...estimate });
  }

  rejected(
    proposalId: string,
    context: ProposerContext | undefined,
    { agentId, envelopeId, message: { rejectionReason, alternativeSuggestion } }: Answered<RejectionMessage>,
  ): AnswerEffect {
    return this.#keep(proposalId, context, {
      agentId,
      type: 'task-reject',
      reason: rejectionReason,
      ...named(envelopeId),
      ...(alternativeSuggestion === undefined ? {} : { alternative: alternativeSuggestion }),
    });
  }

  #keep(
    proposalId: string,
    context: ProposerContext | undefined,
    answer: Omit<ProposalAnswer, 'effect' | 'atMs'>,
  ): AnswerEffect {
    const { clock, store, note } = this.#deps;
    const record = store.get(proposalId) as ProposalRecord;
    const effect = answerEffect(record, context, answer);
    const timestamp = clock.now();
    store.put(withAnswer(record, { ...answer, effect, atMs: timestamp }));
    if (effect === 'counted') return effect;
    const { agentId } = answer;
    note({ type: 'answer-ignored', proposal: record.proposal, timestamp, agentId, reason: effect });
    return effect;
  }
}

const named = (envelopeId: string | undefined): { envelopeId?: string } =>
  envelopeId === undefined ? {} : { envelopeId };
