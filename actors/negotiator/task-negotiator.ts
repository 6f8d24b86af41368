import { bindMethods } from '../../runtime/protocol/bind-methods.ts';
import type { A2AEnvelope } from '../../runtime/protocol/envelope.ts';
import { isOrreryError, type OrreryError, reasonOf } from '../../runtime/protocol/errors.ts';
import { requireFunction, requireText } from '../../runtime/protocol/parse-options.ts';
import type { ActorRow } from '../../runtime/protocol/roster.ts';
import type { AgentPort } from '../agent-port/agent-port.ts';
import { type Decide, decideByCard, decline, takeOn } from './decision.ts';
import type { IncomingProposal } from './incoming-proposal.ts';
import { REASON } from './negotiation-message.ts';
import { Negotiator, type Received } from './negotiator.ts';
import {
  type NewTaskProposal,
  notToBeHad,
  type ProposalRecord,
  type ProposeOptions,
  proposalUnknown,
  type TaskProposal,
} from './proposal.ts';
import { callListener, type NegotiationEvent } from './proposal-event.ts';
import { InMemoryProposalStore, type ProposalStore, tainting, unfailing } from './proposal-store.ts';

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
  readonly negotiator: Negotiator;
  readonly decide: Decide;
  readonly handlers: Set<(proposal: TaskProposal) => void>;
}

/**
 * Proposes tasks to other agents, and answers what they propose, in the name of one agent (seed 1).
 *
 * A proposal goes to everybody permitted who has the capabilities, or to those who are named. The first acceptance wins;
 * the proposal is accepted when the winner has confirmed that it knows, so that proposer and winner agree. Whoever accepts
 * after that is told TAKEN. An assignment is a lease, which the winner renews by itself until one side ends it.
 *
 * Beyond the seed: the options of `propose`, `getRecord` (with every answer), `withdraw`, `release`, `onEvent`, `within`,
 * `actor`, `receive`, `consider`, `lost`, `resume`, `sayAgain`, `leave`, `end` and `close`.
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
    if (core === undefined && options.store?.machineOf === undefined) this.resume();
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
    const ending = this.#core.negotiator.propose(proposal, options, this.#port);
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
    await this.#incoming(proposalId).accept(estimatedCompletionMs);
  }

  /** Declines a proposal that came in, with a reason code. Rejects with REFUSED when there is nothing to decline. */
  async reject(proposalId: string, reason: string, alternative?: string): Promise<void> {
    requireText('proposalId', proposalId);
    const decision = decline({ reason, ...(alternative === undefined ? {} : { alternative }) });
    this.#incoming(proposalId).follow(decision);
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
    const proposals = this.#core.negotiator.records().map(({ proposal }) => proposal);
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
    return this.#core.negotiator.onEvent((event) => {
      this.#read(event.proposal.proposalId);
      listener(event);
    });
  }

  /** Takes back a proposal of this agent; nothing happens to one that is over. */
  async withdraw(proposalId: string, reason: string = REASON.withdrawn): Promise<void> {
    requireText('proposalId', proposalId);
    this.#core.negotiator.withdraw(proposalId, reason);
  }

  /** Ends an assignment, on either side of it; the other side learns the reason. Nothing happens to one that is over. */
  async release(proposalId: string, reason: string = REASON.completed): Promise<void> {
    requireText('proposalId', proposalId);
    this.#core.negotiator.release(proposalId, reason);
  }

  /** The negotiator as an actor, with the proposals that are not over as its children. */
  get actor(): ActorRow {
    return this.#core.negotiator.actor;
  }

  /** The negotiator of the same agent, whose proposals belong to the work of this port. */
  within(port: AgentPort): TaskNegotiator {
    return new TaskNegotiator({ ...this.#options, port }, this.#core);
  }

  // For whoever brings it its envelopes

  /** Takes an acceptance, an assignment or a refusal. */
  receive(envelope: A2AEnvelope): Received {
    return this.#core.negotiator.receive(envelope);
  }

  /**
   * Takes a proposal and has it decided. Resolves when it is answered or left open, also when it was refused or its
   * deadline passed meanwhile. Rejects with INVALID_OPTIONS on what is no proposal, and with what `decide` fails with, which
   * declines it.
   */
  async consider(envelope: A2AEnvelope, decide?: Decide): Promise<void> {
    const { negotiator, handlers } = this.#core;
    const opened = negotiator.open(envelope, this.#port);
    if (opened === undefined) return;
    const { incoming, proposal } = opened;
    if (decide === undefined && handlers.size > 0) {
      for (const handler of handlers) callListener(handler, proposal);
      return;
    }
    try {
      // What was decided elsewhere meanwhile is waited for no longer.
      const decision = await Promise.race([(decide ?? this.#core.decide)(proposal), incoming.decided]);
      if (decision !== undefined) incoming.follow(decision);
    } catch (error) {
      incoming.decline(isOrreryError(error) ? (error as OrreryError).code : REASON.ended);
      throw error;
    }
  }

  /** Declines for this reason a proposal that the agent will not come to answer. */
  lost(envelope: A2AEnvelope, reason: string): void {
    this.#core.negotiator.lost(envelope, reason);
  }

  /**
   * What a negotiator before this one has left in the store goes on, with the time that it had left. Called once, before
   * anything comes in, where the store knows how everything stood; in another store it has ended.
   */
  resume(): void {
    this.#core.negotiator.resume();
  }

  /** Proposes again to those who have not answered, when they can be reached: they may never have got it. */
  sayAgain(): void {
    this.#core.negotiator.proposeAgain();
  }

  /** The system stops, and everything goes on in the next process: what waits for something here rejects with `why`. */
  leave(why: Error): void {
    this.#core.negotiator.leave(why);
  }

  /** The agent's actor has ended: everything is withdrawn, declined and given back. Another one may follow. */
  end(): void {
    this.#core.handlers.clear();
    this.#core.negotiator.end();
  }

  /** Ends everything, and listens no more. */
  async close(): Promise<void> {
    this.#core.handlers.clear();
    this.#core.negotiator.close();
  }

  /** Whoever reads what is kept has what is in it, whenever that was written. */
  #read(proposalId: string): ProposalRecord | undefined {
    const record = this.#core.negotiator.recordOf(proposalId);
    if (record?.taint !== undefined) this.#port.absorbTaint(record.taint);
    return record;
  }

  #incoming(proposalId: string): IncomingProposal {
    const { negotiator } = this.#core;
    const incoming = negotiator.incoming(proposalId);
    if (incoming !== undefined) return incoming;
    const proposal = negotiator.hasMade(proposalId) ? undefined : negotiator.recordOf(proposalId)?.proposal;
    throw proposal === undefined ? proposalUnknown(proposalId, this.agentId) : notToBeHad(proposal);
  }

  #coreOf(options: TaskNegotiatorOptions): Core {
    const { port } = options;
    const { agentId, seams } = port;
    const onFailed = (error: unknown, proposalId?: string): void =>
      port.note({
        type: 'error',
        agentId,
        ...(proposalId === undefined ? {} : { proposalId }),
        errorCode: isOrreryError(error) ? (error as OrreryError).code : 'STORE_FAILED',
        reason: `The store of proposals of ${agentId} did not keep what has happened: ${reasonOf(error)}`,
        success: false,
      });
    const given = options.store ?? new InMemoryProposalStore();
    const store = tainting(unfailing(given, onFailed), () => port.taint);
    requireText('agentId', agentId);
    const { decide = (proposal: TaskProposal) => decideByCard(proposal, port), onEvent } = options;
    const note = (event: NegotiationEvent): void => {
      if (onEvent !== undefined) callListener(onEvent, event);
    };
    const stopListening = port.listen((envelope) => this.#hear(envelope));
    const negotiator = new Negotiator({ agentId, seams, port, store, note, stopListening });
    return { agentId, negotiator, decide, handlers: new Set() };
  }

  #hear(envelope: A2AEnvelope): void {
    if (envelope.type !== 'task-proposal') this.receive(envelope);
    else callListener((arrived) => this.consider(arrived), envelope);
  }
}
