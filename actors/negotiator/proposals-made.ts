import { cancelled, invalidOptions } from '../../runtime/protocol/errors.ts';
import { parseOptions } from '../../runtime/protocol/parse-options.ts';
import type { Seams } from '../../runtime/protocol/seams.ts';
import { AnswerBook, type Answered } from './answer-book.ts';
import type { NegotiationEvent } from './negotiation-event.ts';
import type { AgentPort } from '../agent-port/agent-port.ts';
import { type AcceptanceMessage, REASON, type RejectionMessage } from './negotiation-message.ts';
import { type NewTaskProposal, newProposal, ProposeOptions } from './new-proposal.ts';
import { type ProposalRecord, withChange } from './proposal-record.ts';
import type { ProposalStore } from './proposal-store.ts';
import type { MadeStanding } from './proposal-standing.ts';
import { proposalTo } from './proposal-to.ts';
import { Proposing, type ProposingOptions } from './proposing.ts';
import type { TaskProposal } from './task-proposal.ts';

/** What both sides of a negotiator are made of. */
export interface SideDeps {
  readonly agentId: string;
  readonly seams: Pick<Seams, 'clock' | 'newId'>;
  readonly port: AgentPort;
  readonly store: ProposalStore;
  readonly note: (event: NegotiationEvent) => void;
}

/** The proposals that an agent has made. */
export class ProposalsMade {
  readonly #deps: SideDeps;
  readonly #answers: AnswerBook;
  readonly #live = new Map<string, Proposing>();

  constructor(deps: SideDeps) {
    this.#deps = deps;
    this.#answers = new AnswerBook({ clock: deps.seams.clock, store: deps.store, note: deps.note });
  }

  /** Resolves when it is decided. Fails with INVALID_OPTIONS, and with CANCELLED when a signal withdraws it. */
  async propose(given: NewTaskProposal, options: ProposeOptions, port: AgentPort): Promise<TaskProposal> {
    const { agentId, seams } = this.#deps;
    const { work } = port;
    const parsed = parseOptions(ProposeOptions, options, 'options');
    const { to, alternatives, escalationJustification: justification, correlationId, leaseMs } = parsed;
    const proposal = newProposal(given, { agentId, seams, correlationId, work });
    const signals = [parsed.signal, work?.signal].filter((signal) => signal !== undefined);
    await port.open();
    if (signals.some(({ aborted }) => aborted)) throw cancelled(`The proposal ${proposal.proposalId}`);
    const { asked, reason } = this.#whomToAsk(proposal, to, justification);
    if (asked.length === 0) return this.#rejectedAtOnce(proposal, reason);
    const beside = { alternatives, leaseMs, justification, port, delegation: port.delegate() };
    const proposing = this.#proposing(proposal, { asked, ...beside });
    proposing.start();
    const cancel = (): void => proposing.cancel();
    for (const signal of signals) signal.addEventListener('abort', cancel, { once: true });
    try {
      return await proposing.settled;
    } finally {
      for (const signal of signals) signal.removeEventListener('abort', cancel);
    }
  }

  /** A proposal that was made in a former thread or process goes on. */
  resume({ proposal, asked }: ProposalRecord, left: MadeStanding): void {
    const { port } = this.#deps;
    const { run, justification } = left;
    const { alternativesLeft: alternatives, leaseMs } = run.context;
    const delegation = left.delegation && port.delegateAgain(left.delegation);
    const options = { asked, alternatives, leaseMs, justification, port, delegation };
    this.#proposing(proposal, options, left).resume();
  }

  /** Says again what those who were asked may not have got, or may have forgotten. */
  sayAgain(): void {
    for (const proposing of [...this.#live.values()]) proposing.sayAgain();
  }

  /** Says whether this agent has made the proposal. */
  has(proposalId: string): boolean {
    return this.#recordOf(proposalId) !== undefined;
  }

  /** The proposal that an answer without an id is about: whom it comes from was asked in that conversation. */
  findPlain(agentId: string, correlationId: string | undefined): string | undefined {
    for (const [proposalId, proposing] of this.#live) {
      if (proposing.asksIn(correlationId, agentId)) return proposalId;
    }
    return undefined;
  }

  accepted(proposalId: string, answer: Answered<AcceptanceMessage>): void {
    const proposing = this.#live.get(proposalId);
    if (proposing !== undefined) return proposing.accepted(answer);
    const record = this.#recordOf(proposalId);
    if (record !== undefined) this.#answers.accepted(proposalId, undefined, answer);
    this.refuse(proposalId, answer, record === undefined ? REASON.notOpen : whyOver(record, answer.agentId));
  }

  rejected(proposalId: string, answer: Answered<RejectionMessage>): void {
    const proposing = this.#live.get(proposalId);
    if (proposing !== undefined) proposing.rejected(answer);
    else this.#answers.rejected(proposalId, undefined, answer);
  }

  /** Tells an agent that what it accepts is not to be had. */
  refuse(proposalId: string, { agentId, envelopeId }: Answered<unknown>, rejectionReason: string): void {
    const correlationId = this.#recordOf(proposalId)?.proposal.correlationId;
    void this.#deps.port.send({
      recipient: agentId,
      type: 'task-reject',
      payload: { proposalId, rejectionReason } satisfies RejectionMessage,
      ...(envelopeId === undefined ? {} : { inReplyTo: envelopeId }),
      ...(correlationId === undefined ? {} : { correlationId }),
    });
  }

  /** False when there is nothing to withdraw. */
  withdraw(proposalId: string, reason: string): boolean {
    const proposing = this.#live.get(proposalId);
    proposing?.withdraw(reason);
    return proposing !== undefined;
  }

  /** False when nobody has it. */
  release(proposalId: string, reason: string): boolean {
    const proposing = this.#live.get(proposalId);
    proposing?.release(reason);
    return proposing !== undefined;
  }

  /** The agent is there no more. */
  end(reason: string): void {
    for (const proposing of [...this.#live.values()]) proposing.end(reason);
    this.#live.clear();
  }

  /** The system stops: what goes on goes on in the next process, and whoever waits here gets `why`. */
  leave(why: Error): void {
    for (const proposing of this.#live.values()) proposing.leave(why);
    this.#live.clear();
  }

  #proposing(
    proposal: TaskProposal,
    options: Omit<ProposingOptions, 'onOver'>,
    left?: MadeStanding,
  ): Proposing {
    const { seams, port, store, note } = this.#deps;
    const { proposalId } = proposal;
    const onOver = (): void => {
      this.#live.delete(proposalId);
      options.delegation?.end();
    };
    const proposing = new Proposing(
      { clock: seams.clock, port, store, answers: this.#answers, note },
      proposal,
      { ...options, onOver },
      left,
    );
    this.#live.set(proposalId, proposing);
    return proposing;
  }

  /** Those who are named, or everybody who has the capabilities and whom the rules let be asked; when nobody is, why. */
  #whomToAsk(
    proposal: TaskProposal,
    to: string | readonly string[] | undefined,
    justification: string | undefined,
  ): { asked: readonly string[]; reason: string } {
    const { agentId, port } = this.#deps;
    if (to !== undefined) {
      const named = [...new Set(typeof to === 'string' ? [to] : to)];
      if (named.includes(agentId)) throw invalidOptions('options.to', to, 'other agents than the proposer');
      return { asked: named, reason: '' };
    }
    const offering = port.whoOffers(proposal.requiredCapabilities);
    const verdicts = offering.map((id) => port.judge(proposalTo(id, proposal, justification)));
    const asked = offering.filter((_id, at) => verdicts[at] === undefined);
    return { asked, reason: verdicts[0]?.code ?? 'CAPABILITY_NOT_FOUND' };
  }

  #rejectedAtOnce(proposal: TaskProposal, reason: string): TaskProposal {
    const begun: ProposalRecord = { proposal, asked: [], answers: [], isOver: false };
    const record = withChange(begun, { status: 'rejected', rejectionReason: reason }, true);
    const { store, note, seams } = this.#deps;
    store.put(record);
    note({ type: 'rejected', proposal: record.proposal, timestamp: seams.clock.now(), reason });
    return record.proposal;
  }

  #recordOf(proposalId: string): ProposalRecord | undefined {
    const record = this.#deps.store.get(proposalId);
    return record?.proposal.proposerAgentId === this.#deps.agentId ? record : undefined;
  }
}

/** Why an agent that accepts a proposal which is over does not get it. */
function whyOver({ proposal }: ProposalRecord, agentId: string): string {
  const { status, acceptedBy, rejectionReason = REASON.notOpen } = proposal;
  if (status === 'timed-out') return REASON.timedOut;
  if (status === 'accepted' && acceptedBy !== agentId) return REASON.taken;
  return status === 'accepted' ? rejectionReason : REASON.notOpen;
}
