import type { A2AEnvelope } from '../../runtime/protocol/envelope.ts';
import { warnOf } from '../../runtime/protocol/warn-of.ts';
import { callListener } from './call-listener.ts';
import type { NegotiationEvent } from './negotiation-event.ts';
import { AcceptanceMessage, AssignmentMessage, REASON, RejectionMessage } from './negotiation-message.ts';
import { type ProposalRecord, withChange } from './proposal-record.ts';
import { afterKept, type ProposalStore } from './proposal-store.ts';
import { ProposalsGot } from './proposals-got.ts';
import { ProposalsMade, type SideDeps } from './proposals-made.ts';

/**
 * What became of an envelope.
 *
 * - `handled` there is nothing in it that the agent needs to be told.
 * - `news`    the agent has the task from now on, or does not get it, or has it no more.
 * - `foreign` it is no message of this protocol, or about no proposal that is known here.
 */
export type Received = 'handled' | 'news' | 'foreign';

/**
 * All proposals of one agent, those that it has made and those that it has got, and what comes in about them.
 *
 * The protocol, in the message types of the seed; every message names the proposal and belongs to its conversation:
 *
 * | message          | from      | to        | says |
 * |------------------|-----------|-----------|------|
 * | `task-proposal`  | proposer  | responder | will you take this on, within this deadline? |
 * | `task-accept`    | responder | proposer  | I would; repeated until it is answered |
 * | `task-reject`    | responder | proposer  | I do not; or, of what it had: no more |
 * | `task-accept`    | proposer  | responder | you have it, for this long since you said so (a lease) |
 * | `task-accept` with the epoch | responder | proposer | I know that I have it; repeated, to renew the lease |
 * | `task-reject`    | proposer  | responder | you do not get it, or have it no more |
 *
 * The proposer decides alone, and gives the task to another one only after the one before has said that it does not have
 * it, or has let its lease run out. So at no time do two agents believe that they have it, whatever is lost, repeated or
 * late; and both sides end, because each has a timer wherever it waits. What is said about a proposal that is over, or of
 * which nothing is known any more, is answered by `task-reject`; a `task-reject` is never answered.
 */
export class Negotiation {
  readonly made: ProposalsMade;
  readonly got: ProposalsGot;
  readonly #store: ProposalStore;
  readonly #listeners = new Set<(event: NegotiationEvent) => void>();
  #isResumed = false;

  /** `note` hears of everything, before the listeners do. */
  constructor({ note, ...deps }: SideDeps) {
    const tell = (event: NegotiationEvent): void =>
      afterKept(deps.store, () => {
        note(event);
        for (const listener of this.#listeners) callListener(listener, event);
      });
    this.#store = deps.store;
    this.made = new ProposalsMade({ ...deps, note: tell });
    this.got = new ProposalsGot({ ...deps, note: tell });
  }

  onEvent(listener: (event: NegotiationEvent) => void): () => void {
    this.#listeners.add(listener);
    return () => {
      this.#listeners.delete(listener);
    };
  }

  /** Takes an acceptance, an assignment or a refusal. */
  receive(envelope: A2AEnvelope): Received {
    if (envelope.type === 'task-accept') return this.#accept(envelope);
    return envelope.type === 'task-reject' ? this.#reject(envelope) : 'foreign';
  }

  /**
   * What a negotiator before this one has left in the store goes on, where the store knows how it stood. What has ended
   * with its negotiator the others learn when they say something.
   */
  resume(): void {
    if (this.#isResumed) return;
    this.#isResumed = true;
    for (const record of this.#store.list()) {
      if (record.isOver) continue;
      try {
        this.#resume(record);
      } catch (error) {
        // One that cannot go on does not keep the others from it.
        this.#endFormer(record);
        warnOf(`The proposal ${record.proposal.proposalId} cannot go on`, error);
      }
    }
  }

  /** The system stops: what goes on goes on in the next process, and whoever waits here gets `why`. */
  leave(why: Error): void {
    this.made.leave(why);
    this.got.leave(why);
    this.#listeners.clear();
  }

  /** The agent is there no more, for this reason: it withdraws, declines and gives back everything. */
  end(reason: string): void {
    this.made.end(reason);
    this.got.end(reason);
    this.#listeners.clear();
  }

  #resume(record: ProposalRecord): void {
    const left = this.#store.standingOf?.(record.proposal.proposalId);
    if (left?.side === 'made') this.made.resume(record, left);
    else if (left?.side === 'got') this.got.resume(record, left);
    else this.#endFormer(record);
  }

  #endFormer(record: ProposalRecord): void {
    const { status } = record.proposal;
    const ended = { isHeld: false, rejectionReason: REASON.ended };
    this.#store.put(
      withChange(record, status === 'pending' ? { ...ended, status: 'rejected' } : ended, true),
    );
  }

  #accept(envelope: A2AEnvelope): Received {
    const { payload, sender: agentId, id: envelopeId } = envelope;
    const acceptance = AcceptanceMessage.safeParse(payload ?? {});
    const proposalId = acceptance.data?.proposalId ?? this.made.findPlain(agentId, envelope.correlationId);
    if (acceptance.success && proposalId !== undefined && this.made.has(proposalId)) {
      this.made.accepted(proposalId, { agentId, envelopeId, message: acceptance.data });
      return 'handled';
    }
    const assignment = AssignmentMessage.safeParse(payload);
    if (assignment.success) {
      // Nobody here has accepted in the words of this protocol.
      if (assignment.data.round === undefined) return 'foreign';
      return this.got.assigned(envelope, assignment.data) ? 'news' : 'handled';
    }
    const { round } = acceptance.data ?? {};
    if (proposalId === undefined || round === undefined) return 'foreign';
    this.made.accepted(proposalId, { agentId, envelopeId, message: acceptance.data as AcceptanceMessage });
    return 'handled';
  }

  #reject(envelope: A2AEnvelope): Received {
    const { payload, sender: agentId, id: envelopeId } = envelope;
    const rejection = RejectionMessage.safeParse(payload ?? {});
    if (!rejection.success) return 'foreign';
    const message = rejection.data;
    const proposalId = message.proposalId ?? this.made.findPlain(agentId, envelope.correlationId);
    if (proposalId === undefined) return 'foreign';
    if (this.made.has(proposalId)) {
      this.made.rejected(proposalId, { agentId, envelopeId, message });
      return 'handled';
    }
    return this.got.refused(envelope, proposalId, message.rejectionReason) ? 'news' : 'handled';
  }
}
