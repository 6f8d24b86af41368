import type { A2AEnvelope } from '../../runtime/protocol/envelope.ts';
import { parseOptions } from '../../runtime/protocol/parse-options.ts';
import { Considering, type ConsideringOptions } from './considering.ts';
import type { AgentPort } from '../agent-port/agent-port.ts';
import {
  type AssignmentMessage,
  ProposalMessage,
  REASON,
  type RejectionMessage,
} from './negotiation-message.ts';
import type { ProposalRecord } from './proposal-record.ts';
import type { GotStanding } from './proposal-standing.ts';
import type { SideDeps } from './proposals-made.ts';
import type { TaskProposal } from './task-proposal.ts';

/** Refusals of proposals that have not come in yet, as many as are remembered. */
const EARLY_REFUSALS = 256;

/** The proposals that an agent has got. */
export class ProposalsGot {
  readonly #deps: SideDeps;
  readonly #live = new Map<string, Considering>();
  /** Why, by proposal; oldest first. */
  readonly #earlyRefusals = new Map<string, string>();

  constructor(deps: SideDeps) {
    this.#deps = deps;
  }

  /** What is not over. */
  get(proposalId: string): Considering | undefined {
    return this.#live.get(proposalId);
  }

  /**
   * Takes in a proposal that was delivered; undefined when there is nothing to decide: it is here already, or was refused
   * before it came. One that was left undecided by a former thread or process is to be decided again, once. Fails with
   * INVALID_OPTIONS on what is no proposal.
   */
  open(
    envelope: A2AEnvelope,
    port: AgentPort,
  ): { considering: Considering; proposal: TaskProposal } | undefined {
    const message = parseOptions(ProposalMessage, envelope.payload, 'proposal');
    const proposal = this.#proposalOf(envelope, message);
    const { proposalId } = proposal;
    const known = this.#deps.store.get(proposalId);
    if (known !== undefined) return this.#openAgain(envelope, known);
    const isPlain = message.proposalId === undefined;
    const considering = this.#considering(proposal, {
      envelopeId: envelope.id,
      isPlain,
      behalf: port.behalf(),
    });
    considering.start();
    const refusal = this.#earlyRefusals.get(proposalId);
    if (refusal === undefined) return { considering, proposal };
    this.#earlyRefusals.delete(proposalId);
    considering.refused(refusal);
    return undefined;
  }

  /** A proposal that was got in a former thread or process goes on. */
  resume({ proposal }: ProposalRecord, left: GotStanding): void {
    this.#considering(proposal, { behalf: undefined, ...left }, left).resume();
  }

  /** The proposer of `envelope` says that the agent has a task. True when that is news. */
  assigned(envelope: A2AEnvelope, message: AssignmentMessage): boolean {
    const considering = this.#live.get(message.proposalId);
    if (considering?.isFrom(envelope.sender) === true) return considering.assigned(message);
    // Where it has lost its memory, or has given the task back since, the proposer has to learn it.
    this.#refuse(envelope, message.proposalId, REASON.notHeld);
    return false;
  }

  /** The proposer says that it does not get it, or has it no more. True when that is news. */
  refused({ sender }: A2AEnvelope, proposalId: string, reason: string): boolean {
    const considering = this.#live.get(proposalId);
    if (considering !== undefined) return considering.isFrom(sender) && considering.refused(reason);
    if (this.#deps.store.get(proposalId) === undefined) this.#refuseEarly(proposalId, reason);
    return false;
  }

  /** The agent will not come to answer a proposal, for this reason. */
  lost(envelope: A2AEnvelope, reason: string): void {
    const { data: message } = ProposalMessage.safeParse(envelope.payload);
    if (message === undefined) return;
    const { proposalId } = message;
    const considering = this.#live.get(proposalId ?? envelope.id);
    if (considering !== undefined) considering.lost(envelope.id, reason);
    else this.#refuse(envelope, proposalId, reason);
  }

  /** The agent is there no more. */
  end(reason: string): void {
    for (const considering of [...this.#live.values()]) considering.end(reason);
    this.#live.clear();
  }

  /** The system stops: what goes on goes on in the next process, and whoever waits here gets `why`. */
  leave(why: Error): void {
    for (const considering of this.#live.values()) considering.leave(why);
    this.#live.clear();
  }

  #considering(
    proposal: TaskProposal,
    { envelopeId, isPlain, behalf }: Omit<ConsideringOptions, 'onOver'>,
    left?: GotStanding,
  ): Considering {
    const { agentId, seams, port, store, note } = this.#deps;
    const { proposalId } = proposal;
    const considering = new Considering(
      { agentId, clock: seams.clock, port, store, note },
      proposal,
      { envelopeId, isPlain, behalf, onOver: () => this.#live.delete(proposalId) },
      left,
    );
    this.#live.set(proposalId, considering);
    return considering;
  }

  #openAgain(
    envelope: A2AEnvelope,
    { proposal, isOver }: ProposalRecord,
  ): { considering: Considering; proposal: TaskProposal } | undefined {
    const { proposalId, proposerAgentId, rejectionReason = REASON.notOpen } = proposal;
    if (proposerAgentId !== envelope.sender) return undefined;
    const considering = this.#live.get(proposalId);
    if (considering?.isToBeShown(envelope.id) === true) return { considering, proposal };
    // A proposer that asks again has not had the answer.
    if (isOver) this.#refuse(envelope, proposalId, rejectionReason);
    return undefined;
  }

  #refuse({ id, sender, correlationId }: A2AEnvelope, proposalId: string | undefined, reason: string): void {
    const about = proposalId === undefined ? {} : { proposalId };
    void this.#deps.port.send({
      recipient: sender,
      type: 'task-reject',
      payload: { ...about, rejectionReason: reason } satisfies RejectionMessage,
      inReplyTo: id,
      ...(correlationId === undefined ? {} : { correlationId }),
    });
  }

  #refuseEarly(proposalId: string, reason: string): void {
    this.#earlyRefusals.set(proposalId, reason);
    if (this.#earlyRefusals.size <= EARLY_REFUSALS) return;
    const [oldest = ''] = this.#earlyRefusals.keys();
    this.#earlyRefusals.delete(oldest);
  }

  #proposalOf({ id, sender, correlationId, metadata }: A2AEnvelope, message: ProposalMessage): TaskProposal {
    const { taskDescription, requiredCapabilities, estimatedComplexity, deadlineMs } = message;
    const proposedAtMs = this.#deps.seams.clock.now();
    const leftMs = (metadata?.deadlineAtMs ?? Number.POSITIVE_INFINITY) - proposedAtMs;
    return {
      proposalId: message.proposalId ?? id,
      taskDescription,
      requiredCapabilities,
      estimatedComplexity,
      deadlineMs: Math.max(1, Math.min(deadlineMs, leftMs)),
      proposerAgentId: sender,
      status: 'pending',
      correlationId: correlationId ?? id,
      isHeld: false,
      proposedAtMs,
    };
  }
}
