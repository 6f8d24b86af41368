import { bindMethods } from '../../runtime/protocol/bind-methods.ts';
import type { A2AEnvelope } from '../../runtime/protocol/envelope.ts';
import { isOrreryError, type OrreryError } from '../../runtime/protocol/errors.ts';
import { requireFunction, requireText } from '../../runtime/protocol/parse-options.ts';
import type { AgentPort } from '../agent-port/agent-port.ts';
import { callListener } from './call-listener.ts';
import type { Considering } from './considering.ts';
import { type Decide, decideByCard, decline, takeOn } from './decision.ts';
import { Negotiation, type Received } from './negotiation.ts';
import { notToBeHad, proposalUnknown } from './negotiation-errors.ts';
import type { NegotiationEvent } from './negotiation-event.ts';
import { REASON } from './negotiation-message.ts';
import type { NewTaskProposal, ProposeOptions } from './new-proposal.ts';
import type { ProposalRecord } from './proposal-record.ts';
import { InMemoryProposalStore, marking, type ProposalStore } from './proposal-store.ts';
import type { TaskProposal } from './task-proposal.ts';

/**
 * - `port`    of the agent in whose name it proposes and answers; no other negotiator does: `routerPort(...)`.
 * - `store`   where proposals are kept. @default in memory
 * - `decide`  answers what comes in, unless `onProposalReceived` has a handler. @default by card and mailbox
 * - `onEvent` hears of everything that happens to a proposal.
 */
export interface TaskNegotiatorOptions {
  readonly port: AgentPort;
  readonly store?: ProposalStore;
  readonly decide?: Decide;
  readonly onEvent?: (event: NegotiationEvent) => void;
}

/** What the negotiators of one agent share, in whatever context they are used. */
interface Core {
  readonly agentId: string;
  readonly store: ProposalStore;
  readonly negotiation: Negotiation;
  readonly decide: Decide;
  readonly handlers: Set<(proposal: TaskProposal) => void>;
  readonly stopListening: () => void;
}

/**
 * Proposes tasks to other agents, and answers what they propose, in the name of one agent (seed 1).
 *
 * A proposal goes to everybody permitted who has the capabilities, or to those who are named. The first acceptance wins;
 * the proposal is accepted when the winner has confirmed that it knows, so that proposer and winner agree. Whoever accepts
 * after that is told TAKEN. An assignment is a lease, which the winner renews by itself until one side ends it.
 *
 * Beyond the seed: the options of `propose`, `getRecord` (with every answer), `withdraw`, `release`, `onEvent`, `within`,
 * `receive`, `consider`, `lost`, `resume`, `sayAgain`, `leave`, `end` and `close`.
 */
export class TaskNegotiator {
  readonly #options: TaskNegotiatorOptions;
  readonly #core: Core;
  readonly #port: AgentPort;

  static {
    bindMethods(TaskNegotiator.prototype);
  }

  /** `core` is for `within`. */
  constructor(options: TaskNegotiatorOptions, core?: Core) {
    this.#options = options;
    this.#port = options.port;
    this.#core = core ?? this.#coreOf(options);
    if (core === undefined && this.#core.store.standingOf === undefined) this.resume();
  }

  get agentId(): string {
    return this.#core.agentId;
  }

  /**
   * Proposes a task. Resolves with the proposal once it is accepted, rejected by all, withdrawn, or timed out; `status`
   * and `rejectionReason` say which.
   *
   * Rejects with INVALID_OPTIONS naming field and value, and with CANCELLED when a signal withdraws it.
   */
  propose(proposal: NewTaskProposal, options: ProposeOptions = {}): Promise<TaskProposal> {
    const ending = this.#core.negotiation.made.propose(proposal, options, this.#port);
    return ending.then((ended) => {
      this.#read(ended.proposalId);
      return ended;
    });
  }

  /**
   * Takes on a proposal that came in. Resolves when the task is this agent's; said again while it is, the new estimate
   * counts from now.
   *
   * Rejects with TAKEN or PROPOSAL_TIMEOUT, with REFUSED when the proposer does not want it or the proposal is not known.
   */
  async accept(proposalId: string, estimatedCompletionMs: number): Promise<void> {
    requireText('proposalId', proposalId);
    takeOn({ estimatedCompletionMs });
    await this.#considering(proposalId).accept(estimatedCompletionMs);
  }

  /** Declines a proposal that came in, with a reason code. Rejects with REFUSED when there is nothing to decline. */
  async reject(proposalId: string, reason: string, alternative?: string): Promise<void> {
    requireText('proposalId', proposalId);
    const decision = decline({ reason, ...(alternative === undefined ? {} : { alternative }) });
    this.#considering(proposalId).follow(decision);
  }

  /** A proposal that this agent made or got. */
  getProposal(proposalId: string): TaskProposal | undefined {
    return this.#read(proposalId)?.proposal;
  }

  /** The proposal with whom it went to and every answer to it, those without effect included. */
  getRecord(proposalId: string): ProposalRecord | undefined {
    return this.#read(proposalId);
  }

  /** Proposals that are not decided, those that this agent made and those that it got. */
  listPending(): TaskProposal[] {
    const proposals = this.#core.store.list().map(({ proposal }) => proposal);
    const pending = proposals.filter(({ status }) => status === 'pending');
    for (const { proposalId } of pending) this.#read(proposalId);
    return pending;
  }

  /** Calls `handler` with every proposal that comes in; then `accept` or `reject` answers it, and nobody else does. */
  onProposalReceived(handler: (proposal: TaskProposal) => void): () => void {
    requireFunction('handler', handler);
    const { handlers } = this.#core;
    const entry = (proposal: TaskProposal): void => handler(proposal);
    handlers.add(entry);
    return () => {
      handlers.delete(entry);
    };
  }

  /** Calls `listener` with everything that happens to a proposal from now on. */
  onEvent(listener: (event: NegotiationEvent) => void): () => void {
    requireFunction('listener', listener);
    return this.#core.negotiation.onEvent((event) => {
      this.#read(event.proposal.proposalId);
      listener(event);
    });
  }

  /** Takes back a proposal of this agent; nothing happens to one that is over. */
  async withdraw(proposalId: string, reason: string = REASON.withdrawn): Promise<void> {
    requireText('proposalId', proposalId);
    this.#core.negotiation.made.withdraw(proposalId, reason);
  }

  /** Ends an assignment, on either side of it; the other side learns the reason. Nothing happens to one that is over. */
  async release(proposalId: string, reason: string = REASON.completed): Promise<void> {
    requireText('proposalId', proposalId);
    const { made, got } = this.#core.negotiation;
    if (made.has(proposalId)) made.release(proposalId, reason);
    else got.get(proposalId)?.release(reason);
  }

  /** The negotiator of the same agent, whose proposals belong to the work of this port. */
  within(port: AgentPort): TaskNegotiator {
    return new TaskNegotiator({ ...this.#options, port }, this.#core);
  }

  // For whoever brings it its envelopes

  /** Takes an acceptance, an assignment or a refusal. */
  receive(envelope: A2AEnvelope): Received {
    return this.#core.negotiation.receive(envelope);
  }

  /**
   * Takes a proposal and has it decided. Resolves when it is answered or left open, also when it was refused or its
   * deadline passed meanwhile. Rejects with INVALID_OPTIONS on what is no proposal, and with what `decide` fails with, which
   * declines it.
   */
  async consider(envelope: A2AEnvelope, decide?: Decide): Promise<void> {
    const { negotiation, handlers } = this.#core;
    const opened = negotiation.got.open(envelope, this.#port);
    if (opened === undefined) return;
    const { considering, proposal } = opened;
    if (decide === undefined && handlers.size > 0) {
      for (const handler of handlers) callListener(handler, proposal);
      return;
    }
    try {
      // What was decided elsewhere meanwhile is waited for no longer.
      const decision = await Promise.race([(decide ?? this.#core.decide)(proposal), considering.decided]);
      if (decision !== undefined) considering.follow(decision);
    } catch (error) {
      considering.decline(isOrreryError(error) ? (error as OrreryError).code : REASON.ended);
      throw error;
    }
  }

  /** Declines for this reason a proposal that the agent will not come to answer. */
  lost(envelope: A2AEnvelope, reason: string): void {
    this.#core.negotiation.got.lost(envelope, reason);
  }

  /**
   * What a negotiator before this one has left in the store goes on, with the time that it had left. Called once, before
   * anything comes in, where the store knows how everything stood; in another store it has ended.
   */
  resume(): void {
    this.#core.negotiation.resume();
  }

  /** Proposes again to those who have not answered, when they can be reached: they may never have got it. */
  sayAgain(): void {
    this.#core.negotiation.made.sayAgain();
  }

  /** The system stops, and everything goes on in the next process: what waits for something here rejects with `why`. */
  leave(why: Error): void {
    this.#core.negotiation.leave(why);
  }

  /** The agent's actor has ended: everything is withdrawn, declined and given back. Another one may follow. */
  end(): void {
    this.#core.handlers.clear();
    this.#core.negotiation.end(REASON.ended);
  }

  /** Ends everything, and listens no more. */
  async close(): Promise<void> {
    this.end();
    this.#core.stopListening();
  }

  /** Whoever reads what is kept has what is in it, whenever that was written. */
  #read(proposalId: string): ProposalRecord | undefined {
    const record = this.#core.store.get(proposalId);
    if (record?.taint !== undefined) this.#port.absorbTaint(record.taint);
    return record;
  }

  #considering(proposalId: string): Considering {
    const { negotiation, store } = this.#core;
    const considering = negotiation.got.get(proposalId);
    if (considering !== undefined) return considering;
    const proposal = negotiation.made.has(proposalId) ? undefined : store.get(proposalId)?.proposal;
    throw proposal === undefined ? proposalUnknown(proposalId, this.agentId) : notToBeHad(proposal);
  }

  #coreOf(options: TaskNegotiatorOptions): Core {
    const { port } = options;
    const { agentId, seams } = port;
    const store = marking(options.store ?? new InMemoryProposalStore(), () => port.taint);
    requireText('agentId', agentId);
    const { decide = (proposal: TaskProposal) => decideByCard(proposal, port), onEvent } = options;
    const note = (event: NegotiationEvent): void => {
      if (onEvent !== undefined) callListener(onEvent, event);
    };
    return {
      agentId,
      store,
      negotiation: new Negotiation({ agentId, seams, port, store, note }),
      decide,
      handlers: new Set(),
      stopListening: port.listen((envelope) => this.#hear(envelope)),
    };
  }

  #hear(envelope: A2AEnvelope): void {
    if (envelope.type !== 'task-proposal') this.receive(envelope);
    else callListener((arrived) => this.consider(arrived), envelope);
  }
}
