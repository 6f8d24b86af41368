import { MachineHost } from '../../runtime/machine/machine-host.ts';
import type { A2AEnvelope } from '../../runtime/protocol/envelope.ts';
import { cancelled, invalidOptions } from '../../runtime/protocol/errors.ts';
import { parseOptions } from '../../runtime/protocol/parse-options.ts';
import type { ActorRow } from '../../runtime/protocol/roster.ts';
import type { Seams } from '../../runtime/protocol/seams.ts';
import { warnOf } from '../../runtime/protocol/warn-of.ts';
import type { AgentPort } from '../agent-port/agent-port.ts';
import { IncomingProposal, type IncomingOptions } from './incoming-proposal.ts';
import {
  AcceptanceMessage,
  AssignmentMessage,
  ProposalMessage,
  REASON,
  RejectionMessage,
} from './negotiation-message.ts';
import { negotiatorMachine } from './negotiator.machine.ts';
import {
  acceptanceIn,
  type Answered,
  ignored,
  OutgoingProposal,
  type OutgoingOptions,
  type ProposalDeps,
  rejectionIn,
} from './outgoing-proposal.ts';
import {
  answerEffect,
  messageTo,
  type NewTaskProposal,
  newProposal,
  type ProposalAnswer,
  type ProposalRecord,
  ProposeOptions,
  type TaskProposal,
  withAnswer,
} from './proposal.ts';
import { callListener, type NegotiationEvent } from './proposal-event.ts';
import { afterStored, type PersistedIncoming, type ProposalStore } from './proposal-store.ts';

/**
 * What became of an envelope.
 *
 * - `handled` there is nothing in it that the agent needs to be told.
 * - `news`    the agent has the task from now on, or does not get it, or has it no more.
 * - `foreign` it is no message of this protocol, or about no proposal that is known here.
 */
export type Received = 'handled' | 'news' | 'foreign';

/**
 * - `port`           of the agent, beside any work.
 * - `note`           hears of everything, before the listeners do.
 * - `stopListening`  ends what brings envelopes here.
 */
export interface NegotiatorDeps {
  readonly agentId: string;
  readonly seams: Pick<Seams, 'clock' | 'newId'>;
  readonly port: AgentPort;
  readonly store: ProposalStore;
  readonly note: (event: NegotiationEvent) => void;
  readonly stopListening: () => void;
}

/** A proposal that has come in, and is to be decided. */
export interface ToDecide {
  readonly incoming: IncomingProposal;
  readonly proposal: TaskProposal;
}

/** Proposals of one agent that may be open here at a time. */
const OPEN_OF_EACH = 1_000;

/** Refusals of proposals that have not come in yet, as many as are remembered of one agent. */
const EARLY_REFUSALS_OF_EACH = 64;

/**
 * The negotiator of one agent: its machine, and as children the proposals that are not over.
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
export class Negotiator {
  readonly #deps: NegotiatorDeps;
  readonly #machine: MachineHost<typeof negotiatorMachine>;
  readonly #outgoing = new Map<string, OutgoingProposal>();
  readonly #incoming = new Map<string, IncomingProposal>();
  /** How many of these each agent has made. */
  readonly #incomingOf = new Map<string, number>();
  /** Why, by proposer and proposal; oldest first. */
  readonly #earlyRefusals = new Map<string, Map<string, string>>();
  readonly #listeners = new Set<(event: NegotiationEvent) => void>();

  constructor(deps: NegotiatorDeps) {
    this.#deps = deps;
    const actions = {
      resumeProposals: () => this.#resumeAll(),
      proposeAgain: () => this.#proposeAgain(),
      endProposals: () => this.#endAll((one) => one.end(REASON.ended)),
      leaveProposals: ({ event }: { event: { readonly type: string } }) =>
        this.#endAll((one) => one.leave((event as { readonly type: string; readonly why: Error }).why)),
      stopListening: () => deps.stopListening(),
    };
    this.#machine = new MachineHost(negotiatorMachine, { actions, watch: deps.port.steps });
  }

  // What is known

  /** The negotiator as an actor, with its proposals that are not over. */
  get actor(): ActorRow {
    const children = [...this.#outgoing.values(), ...this.#incoming.values()].map(({ actor }) => actor);
    return { ...this.#machine.row(), children };
  }

  /** Of a proposal that is not over, what its machine says; else what is kept of it. */
  recordOf(proposalId: string): ProposalRecord | undefined {
    const live = this.#outgoing.get(proposalId) ?? this.#incoming.get(proposalId);
    return live === undefined ? this.#deps.store.get(proposalId) : live.record;
  }

  /** All that are known, in the order in which they were made or came. */
  records(): readonly ProposalRecord[] {
    const { store } = this.#deps;
    return store.list().map((kept) => this.recordOf(kept.proposal.proposalId) ?? kept);
  }

  /** One that has come in and is not over. */
  incoming(proposalId: string): IncomingProposal | undefined {
    return this.#incoming.get(proposalId);
  }

  /** Says whether this agent has made the proposal. */
  hasMade(proposalId: string): boolean {
    return this.#ownRecord(proposalId) !== undefined;
  }

  onEvent(listener: (event: NegotiationEvent) => void): () => void {
    this.#listeners.add(listener);
    return () => {
      this.#listeners.delete(listener);
    };
  }

  // What happens to the agent

  /**
   * What a negotiator before this one has left in the store goes on, where the store has the machines. What has ended with
   * its negotiator the others learn when they say something. Nothing happens the second time.
   */
  resume(): void {
    this.#machine.send({ type: 'negotiator.resumes' });
  }

  /** Proposes again what those who were asked may not have got, or may have forgotten. */
  proposeAgain(): void {
    this.#machine.send({ type: 'peers.reachable' });
  }

  /** The system stops: what goes on goes on in the next process, and whoever waits here gets `why`. */
  leave(why: Error): void {
    this.#machine.send({ type: 'system.stops', why });
  }

  /** The agent's actor has ended: it withdraws, declines and gives back everything. Another one may follow. */
  end(): void {
    this.#machine.send({ type: 'agent.ended' });
  }

  close(): void {
    this.#machine.send({ type: 'negotiator.closes' });
  }

  // What the agent does

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
    const outgoing = this.#begin(proposal, { asked, ...beside });
    outgoing.start();
    const cancel = (): void => outgoing.cancel();
    for (const signal of signals) signal.addEventListener('abort', cancel, { once: true });
    try {
      return await outgoing.settled;
    } finally {
      for (const signal of signals) signal.removeEventListener('abort', cancel);
    }
  }

  /** Nothing happens to one that is over. */
  withdraw(proposalId: string, reason: string): void {
    this.#outgoing.get(proposalId)?.withdraw(reason);
  }

  /** Ends an assignment, on either side of it. */
  release(proposalId: string, reason: string): void {
    const side = this.hasMade(proposalId) ? this.#outgoing : this.#incoming;
    side.get(proposalId)?.release(reason);
  }

  // What comes in

  /**
   * Takes in a proposal that was delivered; undefined when there is nothing to decide: it is here already, or was refused
   * before it came. One that was left undecided by a former thread or process is to be decided again, once. Fails with
   * INVALID_OPTIONS on what is no proposal.
   */
  open(envelope: A2AEnvelope, port: AgentPort): ToDecide | undefined {
    const message = parseOptions(ProposalMessage, envelope.payload, 'proposal');
    const proposal = this.#proposalOf(envelope, message);
    const { proposalId } = proposal;
    const known = this.recordOf(proposalId);
    if (known !== undefined) return this.#openAgain(envelope, known);
    if ((this.#incomingOf.get(envelope.sender) ?? 0) >= OPEN_OF_EACH) {
      this.#refuse(envelope, message.proposalId, REASON.busy);
      return undefined;
    }
    const isPlain = message.proposalId === undefined;
    const incoming = this.#take(proposal, { envelopeId: envelope.id, isPlain, behalf: port.behalf() });
    incoming.start();
    const refusals = this.#earlyRefusals.get(envelope.sender);
    const refusal = refusals?.get(proposalId);
    if (refusal === undefined) return { incoming, proposal };
    refusals?.delete(proposalId);
    if (refusals?.size === 0) this.#earlyRefusals.delete(envelope.sender);
    incoming.refused(refusal);
    return undefined;
  }

  /** Takes an acceptance, an assignment or a refusal. */
  receive(envelope: A2AEnvelope): Received {
    if (envelope.type === 'task-accept') return this.#accept(envelope);
    return envelope.type === 'task-reject' ? this.#reject(envelope) : 'foreign';
  }

  /** The agent will not come to answer a proposal, for this reason. */
  lost(envelope: A2AEnvelope, reason: string): void {
    const { data: message } = ProposalMessage.safeParse(envelope.payload);
    if (message === undefined) return;
    const { proposalId } = message;
    const incoming = this.#incoming.get(proposalId ?? envelope.id);
    if (incoming !== undefined) incoming.lost(envelope.id, reason);
    else this.#refuse(envelope, proposalId, reason);
  }

  #accept(envelope: A2AEnvelope): Received {
    const { payload, sender: agentId, id: envelopeId } = envelope;
    const acceptance = AcceptanceMessage.safeParse(payload ?? {});
    const proposalId = acceptance.data?.proposalId ?? this.#findPlain(envelope);
    if (acceptance.success && proposalId !== undefined && this.hasMade(proposalId)) {
      this.#accepted(envelope, proposalId, { agentId, envelopeId, message: acceptance.data });
      return 'handled';
    }
    const assignment = AssignmentMessage.safeParse(payload);
    if (assignment.success) {
      // Nobody here has accepted by this protocol.
      if (assignment.data.round === undefined) return 'foreign';
      return this.#assigned(envelope, assignment.data) ? 'news' : 'handled';
    }
    const { round } = acceptance.data ?? {};
    if (proposalId === undefined || round === undefined) return 'foreign';
    this.#refuse(envelope, proposalId, REASON.notOpen);
    return 'handled';
  }

  #reject(envelope: A2AEnvelope): Received {
    const { payload, sender: agentId, id: envelopeId } = envelope;
    const rejection = RejectionMessage.safeParse(payload ?? {});
    if (!rejection.success) return 'foreign';
    const message = rejection.data;
    const proposalId = message.proposalId ?? this.#findPlain(envelope);
    if (proposalId === undefined) return 'foreign';
    if (!this.hasMade(proposalId))
      return this.#refused(envelope, proposalId, message.rejectionReason) ? 'news' : 'handled';
    const outgoing = this.#outgoing.get(proposalId);
    if (outgoing !== undefined) outgoing.rejected({ agentId, envelopeId, message });
    else this.#answeredLate(proposalId, rejectionIn({ agentId, envelopeId, message }));
    return 'handled';
  }

  /** The proposal that an answer without an id is about: whom it comes from was asked in that conversation. */
  #findPlain({ sender, correlationId }: A2AEnvelope): string | undefined {
    for (const [proposalId, outgoing] of this.#outgoing)
      if (outgoing.asksIn(correlationId, sender)) return proposalId;
    return undefined;
  }

  /** An agent accepts what this one has proposed. */
  #accepted(envelope: A2AEnvelope, proposalId: string, answer: Answered<AcceptanceMessage>): void {
    const outgoing = this.#outgoing.get(proposalId);
    if (outgoing !== undefined) return outgoing.accepted(answer);
    if (answer.message.epoch === undefined) this.#answeredLate(proposalId, acceptanceIn(answer));
    const record = this.#ownRecord(proposalId) as ProposalRecord;
    this.#refuse(envelope, proposalId, whyOver(record, answer.agentId), record.proposal.correlationId);
  }

  /** Somebody says something to a proposal that is over. */
  #answeredLate(proposalId: string, answer: Omit<ProposalAnswer, 'effect' | 'atMs'>): void {
    const { store, seams } = this.#deps;
    const record = this.#ownRecord(proposalId);
    if (record === undefined) return;
    const effect = answerEffect(record, undefined, answer);
    const timestamp = seams.clock.now();
    store.put({ ...record, answers: withAnswer(record.answers, { ...answer, effect, atMs: timestamp }) });
    this.#note(ignored(record, answer.agentId, { effect, timestamp }));
  }

  /** The proposer of `envelope` says that the agent has a task. True when that is news. */
  #assigned(envelope: A2AEnvelope, message: AssignmentMessage): boolean {
    const incoming = this.#incoming.get(message.proposalId);
    if (incoming?.isFrom(envelope.sender) === true) return incoming.assigned(message);
    // Where it has lost its memory, or has given the task back since, the proposer has to learn it.
    this.#refuse(envelope, message.proposalId, REASON.notHeld);
    return false;
  }

  /** The proposer says that it does not get it, or has it no more. True when that is news. */
  #refused({ sender }: A2AEnvelope, proposalId: string, reason: string): boolean {
    const incoming = this.#incoming.get(proposalId);
    if (incoming !== undefined) return incoming.isFrom(sender) && incoming.refused(reason);
    if (this.#deps.store.get(proposalId) === undefined) this.#refuseEarly(sender, proposalId, reason);
    return false;
  }

  #openAgain(envelope: A2AEnvelope, { proposal, isOver }: ProposalRecord): ToDecide | undefined {
    const { proposalId, proposerAgentId, rejectionReason = REASON.notOpen } = proposal;
    if (proposerAgentId !== envelope.sender) {
      // The name is taken: it is told, and need not wait for its deadline.
      this.#refuse(envelope, proposalId, REASON.notOpen);
      return undefined;
    }
    const incoming = this.#incoming.get(proposalId);
    if (incoming?.isToBeShown(envelope.id) === true) return { incoming, proposal };
    // A proposer that asks again has not had the answer.
    if (isOver) this.#refuse(envelope, proposalId, rejectionReason);
    return undefined;
  }

  /** Answers an envelope that says something about a proposal which is not to be had here. */
  #refuse(
    { id, sender, correlationId: conversation }: A2AEnvelope,
    proposalId: string | undefined,
    rejectionReason: string,
    correlationId: string | undefined = conversation,
  ): void {
    const about = proposalId === undefined ? {} : { proposalId };
    void this.#deps.port.send({
      recipient: sender,
      type: 'task-reject',
      payload: { ...about, rejectionReason } satisfies RejectionMessage,
      inReplyTo: id,
      ...(correlationId === undefined ? {} : { correlationId }),
    });
  }

  #refuseEarly(proposer: string, proposalId: string, reason: string): void {
    const refusals = this.#earlyRefusals.get(proposer) ?? new Map<string, string>();
    this.#earlyRefusals.set(proposer, refusals.set(proposalId, reason));
    if (refusals.size <= EARLY_REFUSALS_OF_EACH) return;
    const [oldest = ''] = refusals.keys();
    refusals.delete(oldest);
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

  // The children

  #begin(
    proposal: TaskProposal,
    options: Omit<OutgoingOptions, 'onOver'>,
    left?: ConstructorParameters<typeof OutgoingProposal>[3],
  ): OutgoingProposal {
    const { proposalId } = proposal;
    const onOver = (): void => {
      this.#outgoing.delete(proposalId);
      options.delegation?.end();
    };
    const outgoing = new OutgoingProposal(this.#proposalDeps, proposal, { ...options, onOver }, left);
    this.#outgoing.set(proposalId, outgoing);
    return outgoing;
  }

  #take(
    proposal: TaskProposal,
    { envelopeId, isPlain, behalf }: Omit<IncomingOptions, 'onOver'>,
    left?: PersistedIncoming,
  ): IncomingProposal {
    const { proposalId, proposerAgentId } = proposal;
    const count = (more: number): void => {
      const open = (this.#incomingOf.get(proposerAgentId) ?? 0) + more;
      if (open > 0) this.#incomingOf.set(proposerAgentId, open);
      else this.#incomingOf.delete(proposerAgentId);
    };
    const onOver = (): void => {
      if (this.#incoming.delete(proposalId)) count(-1);
    };
    const options = { envelopeId, isPlain, behalf, onOver };
    const incoming = new IncomingProposal(this.#proposalDeps, proposal, options, left);
    this.#incoming.set(proposalId, incoming);
    count(1);
    return incoming;
  }

  get #proposalDeps(): ProposalDeps {
    const { agentId, seams, port, store } = this.#deps;
    return { agentId, clock: seams.clock, port, store, note: (event) => this.#note(event) };
  }

  #endAll(end: (proposal: OutgoingProposal | IncomingProposal) => void): void {
    for (const proposal of [...this.#outgoing.values(), ...this.#incoming.values()]) end(proposal);
    this.#outgoing.clear();
    this.#incoming.clear();
    this.#incomingOf.clear();
    this.#listeners.clear();
  }

  #proposeAgain(): void {
    for (const outgoing of [...this.#outgoing.values()]) outgoing.sayAgain();
  }

  #resumeAll(): void {
    for (const record of this.#deps.store.list()) {
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

  #resume(record: ProposalRecord): void {
    const { store, port } = this.#deps;
    const { proposal, asked, answers } = record;
    const machine = store.machineOf?.(proposal.proposalId);
    if (machine === undefined) return this.#endFormer(record);
    if (machine.side === 'got') {
      const { isPlain = false } = { ...machine, ...machine.run.context };
      this.#take(proposal, { behalf: undefined, ...machine, isPlain }, machine).start();
      return;
    }
    const { alternativesLeft: alternatives, leaseMs } = machine.run.context;
    const { justification } = machine;
    const delegation = machine.delegation && port.delegateAgain(machine.delegation);
    const options = { asked, alternatives, leaseMs, justification, port, delegation };
    this.#begin(proposal, options, { machine, answers }).start();
  }

  #endFormer(record: ProposalRecord): void {
    const { proposal } = record;
    const status = proposal.status === 'pending' ? 'rejected' : proposal.status;
    const ended = { ...proposal, status, isHeld: false, rejectionReason: REASON.ended };
    this.#deps.store.put({ ...record, proposal: ended, isOver: true });
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
    const verdicts = offering.map((id) => port.judge(messageTo(id, proposal, justification)));
    const asked = offering.filter((_id, at) => verdicts[at] === undefined);
    return { asked, reason: verdicts[0]?.code ?? 'CAPABILITY_NOT_FOUND' };
  }

  #rejectedAtOnce(proposal: TaskProposal, rejectionReason: string): TaskProposal {
    const { store, seams } = this.#deps;
    const rejected: TaskProposal = { ...proposal, status: 'rejected', rejectionReason };
    store.put({ proposal: rejected, asked: [], answers: [], isOver: true });
    const timestamp = seams.clock.now();
    this.#note({ type: 'rejected', proposal: rejected, timestamp, reason: rejectionReason });
    return rejected;
  }

  #ownRecord(proposalId: string): ProposalRecord | undefined {
    const record = this.#deps.store.get(proposalId);
    return record?.proposal.proposerAgentId === this.#deps.agentId ? record : undefined;
  }

  #note(event: NegotiationEvent): void {
    const { store, note } = this.#deps;
    afterStored(store, () => {
      note(event);
      for (const listener of this.#listeners) callListener(listener, event);
    });
  }
}

/** Why an agent that accepts a proposal which is over does not get it. */
function whyOver({ proposal }: ProposalRecord, agentId: string): string {
  const { status, acceptedBy, rejectionReason = REASON.notOpen } = proposal;
  if (status === 'timed-out') return REASON.timedOut;
  if (status === 'accepted' && acceptedBy !== agentId) return REASON.taken;
  return status === 'accepted' ? rejectionReason : REASON.notOpen;
}
