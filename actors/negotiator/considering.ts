import { MAX_TIMER_MS } from '../../runtime/protocol/milliseconds.ts';
import { MachineHost, type PersistedTimer } from '../../runtime/machine/machine-host.ts';
import type { Clock } from '../../runtime/protocol/seams.ts';
import type { Behalf } from '../../runtime/public.ts';
import type { AgentPort } from '../agent-port/agent-port.ts';
import type { Decision } from './decision.ts';
import { LeaseClock } from './lease-clock.ts';
import { mayPassLater, notToBeHad } from './negotiation-errors.ts';
import type { NegotiationEvent, NegotiationEventType } from './negotiation-event.ts';
import {
  type AcceptanceMessage,
  type AssignmentMessage,
  REASON,
  type RejectionMessage,
} from './negotiation-message.ts';
import { type ProposalChange, type ProposalRecord, withChange } from './proposal-record.ts';
import { type GotStanding, shorterLease } from './proposal-standing.ts';
import { afterKept, type ProposalStore } from './proposal-store.ts';
import { type ResponderEvent, responderMachine } from './responder.machine.ts';
import type { TaskProposal } from './task-proposal.ts';

/** An acceptance that nobody answers is said again after this long, */
const REPEAT_MS = 1_000;
/** and kept up for this long after the deadline: another agent that was first may turn out not to have the task. */
const GRACE_MS = 10_000;
/** An assignment is given back when it takes this many times as long as was estimated, */
const OVERDUE_TIMES = 2;
/** and this long on top. */
const OVERDUE_MS = 60_000;
/** No agent says so often that it accepts. */
const ROUNDS_A_MS = 1_000;

export interface ConsideringDeps {
  readonly agentId: string;
  readonly clock: Clock;
  readonly port: AgentPort;
  readonly store: ProposalStore;
  readonly note: (event: NegotiationEvent) => void;
}

/**
 * - `envelopeId` of the proposal, which every answer names.
 * - `isPlain`    its proposer does not speak this protocol: who accepts, has it.
 * - `behalf`     on whose behalf it was proposed.
 * - `onOver`     called once, when nothing can change any more.
 */
export interface ConsideringOptions {
  readonly envelopeId: string;
  readonly isPlain: boolean;
  readonly behalf: Behalf | undefined;
  readonly onOver: () => void;
}

/** One proposal at an agent that was asked: the machine, and what its steps do and are answered with. */
export class Considering {
  readonly #deps: ConsideringDeps;
  readonly #options: ConsideringOptions;
  /** It goes on from a former thread or process. */
  readonly #wasLeft: boolean;
  readonly #proposalId: string;
  readonly #proposerId: string;
  readonly #lease: LeaseClock;
  readonly #machine: MachineHost<typeof responderMachine>;
  readonly #decided = Promise.withResolvers<undefined>();
  #accepted: PromiseWithResolvers<void> | undefined;
  #estimateMs = 0;
  #reason: string = REASON.timedOut;
  #alternative: string | undefined;
  #overdueAtMs: number | undefined;
  #cancelOverdue: () => void = () => undefined;
  #lastSent: Promise<unknown> = Promise.resolve();
  /** In its former thread or process the agent left it undecided, and in this one nobody has been shown it yet. */
  #isToBeShown: boolean;
  #envelopeId: string;

  /** `left`: how it stood when its former thread or process ended; a new one is put into the store. */
  constructor(
    deps: ConsideringDeps,
    proposal: TaskProposal,
    options: ConsideringOptions,
    left?: GotStanding,
  ) {
    const { clock, store } = deps;
    this.#deps = deps;
    this.#options = options;
    this.#wasLeft = left !== undefined;
    this.#isToBeShown = this.#wasLeft;
    this.#proposalId = proposal.proposalId;
    this.#proposerId = proposal.proposerAgentId;
    this.#envelopeId = options.envelopeId;
    // A former life has used lower ones, also one of which nothing is known.
    this.#lease = new LeaseClock(clock, left === undefined ? clock.now() * ROUNDS_A_MS : left.round + 1);
    const run = left && shorterLease(left.run);
    if (left === undefined) store.put({ proposal, asked: [], answers: [], isOver: false });
    else this.#remember(left, run?.timers);
    const { deadlineMs } = proposal;
    const holdMs = Math.min(deadlineMs + GRACE_MS, MAX_TIMER_MS);
    this.#machine = new MachineHost(
      responderMachine,
      {
        id: proposal.proposalId,
        clock,
        actions: {
          tellAccepted: ({ context }) => this.#tellAccepted(context.epoch),
          tellRejected: ({ event }) => this.#tellRejected(event),
        },
        // A plain proposer answers nothing.
        mayArm: (id) => id === 'deadline' || !options.isPlain,
      },
      run === undefined ? { input: { deadlineMs, holdMs, repeatMs: REPEAT_MS } } : { persisted: run },
    );
    this.#machine.observe(({ from, event }) => {
      this.#followed(from.value, event);
      this.#keepStanding();
    });
  }

  get isOver(): boolean {
    return this.#machine.isOver || (this.#options.isPlain && this.#machine.value === 'assigned');
  }

  /** Resolves when the agent has answered, or has nothing to answer any more. */
  get decided(): Promise<undefined> {
    return this.#decided.promise;
  }

  get isUndecided(): boolean {
    return this.#machine.value === 'considering';
  }

  get isHeld(): boolean {
    return this.#machine.value === 'assigned';
  }

  isFrom(agentId: string): boolean {
    return agentId === this.#proposerId;
  }

  start(): void {
    this.#note('received');
    this.#machine.start();
    this.#keepStanding();
  }

  /** It goes on from where it stood. */
  resume(): void {
    this.#machine.start();
    if (!this.isHeld || this.#overdueAtMs === undefined) return;
    const leftMs = this.#overdueAtMs - this.#deps.clock.now();
    if (leftMs > 0) this.#releaseIn(leftMs);
    else this.release(REASON.overdue);
  }

  /**
   * The proposal has come again, in this envelope. True when it is to be considered: the agent has not decided, and in this
   * thread it has not been asked yet.
   */
  isToBeShown(envelopeId: string): boolean {
    if (!this.#isToBeShown || !this.isUndecided) return false;
    this.#isToBeShown = false;
    this.#envelopeId = envelopeId;
    this.#keepStanding();
    return true;
  }

  /** The agent will not come to answer this envelope. What it had decided before its thread or process ended, it had. */
  lost(envelopeId: string, reason: string): void {
    if (envelopeId !== this.#envelopeId || (this.#wasLeft && !this.isUndecided)) return;
    this.decline(reason);
  }

  /** The system stops, and the proposal goes on in the next process: whoever waits for it gets `why`. */
  leave(why: Error): void {
    this.#cancelOverdue();
    this.#machine.stop();
    this.#accepted?.reject(why);
  }

  /** Does what was decided, unless the proposal was decided otherwise meanwhile. */
  follow(decision: Decision): void {
    if (!this.isUndecided) return;
    if (decision.isTakenOn) this.#offer(decision.estimatedCompletionMs);
    else this.decline(decision.reason, decision.alternative);
  }

  /** Resolves when the task is this agent's. While it has it, the new estimate counts from now. */
  accept(estimatedCompletionMs: number): Promise<void> {
    if (this.isHeld) {
      this.#estimateMs = estimatedCompletionMs;
      this.#watchOverdue();
      this.#keepStanding();
      return Promise.resolve();
    }
    this.#accepted ??= Promise.withResolvers<void>();
    const { promise } = this.#accepted;
    if (this.isUndecided) this.#offer(estimatedCompletionMs);
    return promise;
  }

  /** Declines; takes an acceptance back that has not been answered. */
  decline(reason: string, alternative?: string): void {
    this.#reason = reason;
    this.#alternative = alternative;
    this.#machine.send({ type: this.isUndecided ? 'agent.declines' : 'agent.releases' });
  }

  /** The assignment is over. */
  release(reason: string): void {
    this.#reason = reason;
    this.#machine.send({ type: 'agent.releases' });
  }

  /** The agent's actor has ended. */
  end(reason: string): void {
    this.decline(reason);
    this.#cancelOverdue();
    this.#machine.stop();
  }

  /** The proposer says that the agent has the task. True when that is news. */
  assigned({ acceptedBy, epoch, round, leaseMs }: AssignmentMessage): boolean {
    if (acceptedBy !== this.#deps.agentId || round === undefined) return false;
    const leaseLeftMs = this.#lease.leaseLeftMs(round, leaseMs);
    if (leaseLeftMs === undefined) return false;
    const wasHeld = this.isHeld;
    this.#machine.send({ type: 'assignment.received', epoch, leaseLeftMs });
    return !wasHeld && this.isHeld;
  }

  /** The proposer says that it does not, or no more. True when that is news. */
  refused(reason: string): boolean {
    if (this.isOver) return false;
    this.#reason = reason;
    this.#machine.send({ type: 'refusal.received' });
    return true;
  }

  #offer(estimatedCompletionMs: number): void {
    this.#estimateMs = estimatedCompletionMs;
    this.#machine.send({ type: 'agent.accepts' });
    if (this.#options.isPlain) this.#machine.send({ type: 'assignment.received', epoch: 1, leaseLeftMs: 1 });
  }

  // What the machine has done

  #tellAccepted(epoch: number | undefined): void {
    const { isPlain } = this.#options;
    if (isPlain && epoch !== undefined) return;
    const payload: AcceptanceMessage = {
      acceptedBy: this.#deps.agentId,
      estimatedCompletionMs: this.#estimateMs,
      ...(isPlain ? {} : { proposalId: this.#proposalId, round: this.#lease.sending() }),
      ...(epoch === undefined ? {} : { epoch }),
    };
    void this.#send('task-accept', payload).then(({ delivered, errorCode = 'DELIVERY_FAILED' }) => {
      if (!delivered && !mayPassLater(errorCode)) this.refused(errorCode);
    });
  }

  #tellRejected({ type }: ResponderEvent): void {
    if (type === 'lease.ended') this.#reason = REASON.lapsed;
    if (type === 'offer.ended') this.#reason = REASON.unanswered;
    const payload: RejectionMessage = {
      rejectionReason: this.#reason,
      ...(this.#options.isPlain ? {} : { proposalId: this.#proposalId }),
      ...(this.#alternative === undefined ? {} : { alternativeSuggestion: this.#alternative }),
    };
    void this.#send('task-reject', payload);
  }

  #send(type: 'task-accept' | 'task-reject', payload: unknown) {
    const { correlationId } = this.#record.proposal;
    const sent = this.#deps.port.send({
      recipient: this.#proposerId,
      type,
      payload,
      inReplyTo: this.#envelopeId,
      correlationId,
      behalf: this.#options.behalf,
    });
    this.#lastSent = sent;
    return sent;
  }

  #watchOverdue(): void {
    const overdueMs = Math.min(this.#estimateMs * OVERDUE_TIMES + OVERDUE_MS, MAX_TIMER_MS);
    this.#overdueAtMs = this.#deps.clock.now() + overdueMs;
    this.#releaseIn(overdueMs);
  }

  #releaseIn(overdueMs: number): void {
    this.#cancelOverdue();
    this.#cancelOverdue = this.#deps.clock.setTimer(overdueMs, () => this.release(REASON.overdue));
  }

  /** The machine has made a step from `before`: the record follows. */
  #followed(before: string, event: ResponderEvent): void {
    const { value, context } = this.#machine;
    if (value === before) return;
    this.#decided.resolve(undefined);
    if (before === 'assigned') this.#cancelOverdue();
    switch (value) {
      case 'offered':
        return this.#change({ estimatedCompletionMs: this.#estimateMs });
      case 'assigned':
        this.#change({
          status: 'accepted',
          acceptedBy: this.#deps.agentId,
          isHeld: true,
          ...(context.epoch === undefined ? {} : { epoch: context.epoch }),
        });
        this.#note('assigned');
        afterKept(this.#deps.store, () => this.#accepted?.resolve());
        return this.#options.isPlain ? this.#options.onOver() : this.#watchOverdue();
      case 'declined':
        return this.#failed('declined', 'rejected');
      case 'refused':
        return this.#failed('refused', this.#reason === REASON.timedOut ? 'timed-out' : 'rejected');
      case 'expired':
        if (event.type === 'deadline.passed') this.#reason = REASON.timedOut;
        return this.#failed('expired', 'timed-out');
      case 'givenBack':
      case 'takenBack':
      case 'lapsed':
        this.#change({ isHeld: false, rejectionReason: this.#reason });
        this.#note('ended', this.#reason);
        return this.#over();
    }
  }

  #failed(type: NegotiationEventType, status: 'rejected' | 'timed-out'): void {
    const alternative = this.#alternative;
    this.#change({
      status,
      rejectionReason: this.#reason,
      ...(alternative === undefined ? {} : { alternativeSuggestion: alternative }),
    });
    this.#note(type, this.#reason);
    const { proposal } = this.#record;
    afterKept(this.#deps.store, () => this.#accepted?.reject(notToBeHad(proposal)));
    this.#over();
  }

  #over(): void {
    this.#options.onOver();
    // Its last word is still an answer.
    void this.#lastSent.then(() => this.#deps.port.endGrant(this.#envelopeId, this.#proposerId));
  }

  // What outlives it

  #remember(
    { estimateMs, reason, alternative, overdueAtMs }: GotStanding,
    timers: readonly PersistedTimer[] = [],
  ): void {
    this.#estimateMs = estimateMs;
    this.#reason = reason;
    this.#alternative = alternative;
    this.#overdueAtMs = overdueAtMs;
    const { clock, port } = this.#deps;
    const nowMs = clock.now();
    const lease = timers.find(({ id }) => id === 'lease');
    if (lease !== undefined) this.#lease.goOn(lease.atMs - nowMs);
    // It answers before the last of them has fired, or when it does.
    const untilMs = Math.max(nowMs, ...timers.map(({ atMs }) => atMs)) + GRACE_MS;
    port.holdGrant(this.#envelopeId, this.#proposerId, untilMs);
  }

  /** In the same step in which what it says is sent: nobody knows of a state that could be forgotten. */
  #keepStanding(): void {
    const { store } = this.#deps;
    if (store.standingOf === undefined || this.isOver) return;
    const standing = {
      side: 'got',
      run: this.#machine.persist(),
      envelopeId: this.#envelopeId,
      isPlain: this.#options.isPlain,
      behalf: this.#options.behalf,
      estimateMs: this.#estimateMs,
      reason: this.#reason,
      alternative: this.#alternative,
      round: this.#lease.round,
      overdueAtMs: this.#overdueAtMs,
    };
    store.put(this.#record, standing as GotStanding);
  }

  get #record(): ProposalRecord {
    return this.#deps.store.get(this.#proposalId) as ProposalRecord;
  }

  #change(change: ProposalChange): void {
    this.#deps.store.put(withChange(this.#record, change, this.isOver));
  }

  #note(type: NegotiationEventType, reason?: string): void {
    const why = reason === undefined ? {} : { reason };
    const timestamp = this.#deps.clock.now();
    this.#deps.note({ type, proposal: this.#record.proposal, agentId: this.#proposerId, timestamp, ...why });
  }
}
