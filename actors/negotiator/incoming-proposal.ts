import { MachineHost } from '../../runtime/machine/machine-host.ts';
import type { ActorRow } from '../../runtime/protocol/roster.ts';
import { MAX_TIMER_MS } from '../../runtime/protocol/milliseconds.ts';
import type { Clock } from '../../runtime/protocol/seams.ts';
import type { Behalf } from '../../runtime/public.ts';
import type { Decision } from './decision.ts';
import {
  type AcceptanceMessage,
  type AssignmentMessage,
  REASON,
  type RejectionMessage,
} from './negotiation-message.ts';
import type { ProposalDeps } from './outgoing-proposal.ts';
import { asProposed, mayPassLater, notToBeHad, type ProposalRecord, type TaskProposal } from './proposal.ts';
import type { NegotiationEventType } from './proposal-event.ts';
import { afterStored, incomingMachine, type PersistedIncoming } from './proposal-store.ts';
import { responderMachine } from './responder.machine.ts';

/** An acceptance that nobody answers is said again after this long, */
const REPEAT_MS = 1_000;
/** and kept up for this long after the deadline: another agent that was first may turn out not to have the task. */
const GRACE_MS = 10_000;
/** No agent says so often that it accepts. */
const ROUNDS_A_MS = 1_000;

/**
 * - `envelopeId` of the proposal, which every answer names.
 * - `isPlain`    its proposer does not speak this protocol: who accepts, has it.
 * - `behalf`     on whose behalf it was proposed.
 * - `onOver`     called once, when nothing can change any more.
 */
export interface IncomingOptions {
  readonly envelopeId: string;
  readonly isPlain: boolean;
  readonly behalf: Behalf | undefined;
  readonly onOver: () => void;
}

/** A proposal that has come to an agent: the machine, what its steps send, and what is said about it. */
export class IncomingProposal {
  readonly #deps: ProposalDeps;
  readonly #options: IncomingOptions;
  /** As it came. */
  readonly #proposal: TaskProposal;
  /** It goes on from a former thread or process. */
  readonly #wasLeft: boolean;
  readonly #lease: LeaseClock;
  readonly #machine: MachineHost<typeof responderMachine>;
  readonly #decided = Promise.withResolvers<undefined>();
  #accepted: PromiseWithResolvers<void> | undefined;
  #lastSent: Promise<unknown> = Promise.resolve();
  /** In its former thread or process the agent left it undecided, and in this one nobody has been shown it yet. */
  #isToBeShown: boolean;
  #envelopeId: string;

  /** `left`: its machine when its former thread or process ended. A new one is put into the store. */
  constructor(
    deps: ProposalDeps,
    proposal: TaskProposal,
    options: IncomingOptions,
    left?: PersistedIncoming,
  ) {
    const { clock, store } = deps;
    this.#deps = deps;
    this.#options = options;
    this.#proposal = asProposed(proposal);
    this.#wasLeft = left !== undefined;
    this.#isToBeShown = this.#wasLeft;
    this.#envelopeId = options.envelopeId;
    // A former life has used lower ones, also one of which nothing is known.
    this.#lease = new LeaseClock(clock, left === undefined ? clock.now() * ROUNDS_A_MS : left.round + 1);
    const { deadlineMs, proposalId: id } = proposal;
    const holdMs = Math.min(deadlineMs + GRACE_MS, MAX_TIMER_MS);
    const { isPlain } = options;
    const persisted = left && incomingMachine(left);
    this.#machine = new MachineHost(
      responderMachine,
      {
        id,
        clock,
        watch: deps.port.steps,
        facts: () => ({
          capabilities: proposal.requiredCapabilities.join(', '),
          proposer: proposal.proposerAgentId,
        }),
        actions: {
          tellAccepted: () => this.#tellAccepted(),
          tellRejected: () => this.#tellRejected(),
        },
      },
      persisted === undefined
        ? { input: { deadlineMs, holdMs, repeatMs: REPEAT_MS, isPlain } }
        : { persisted },
    );
    this.#machine.observe(({ from }) => this.#followed(from.value));
    if (persisted === undefined) store.put(this.record);
    else this.#holdGrant(persisted.timers);
  }

  /** Resolves when the agent has answered, or has nothing to answer any more. */
  get decided(): Promise<undefined> {
    return this.#decided.promise;
  }

  /** The proposal as an actor. */
  get actor(): ActorRow {
    return this.#machine.row();
  }

  /** Where its machine stands. */
  get state(): string {
    return this.#machine.stateName;
  }

  /** The proposal as its machine has it now. */
  get record(): ProposalRecord {
    const taint = this.#deps.store.get(this.#proposal.proposalId)?.taint;
    return {
      proposal: { ...this.#proposal, ...this.#estimate, ...this.#outcome },
      asked: [],
      answers: [],
      isOver: this.#machine.isOver,
      ...(taint === undefined ? {} : { taint }),
    };
  }

  get #estimate(): Partial<TaskProposal> {
    const { estimateMs } = this.#machine.context;
    return estimateMs === undefined ? {} : { estimatedCompletionMs: estimateMs };
  }

  /** What the machine says of the proposal. */
  get #outcome(): Partial<TaskProposal> {
    const { value, context } = this.#machine;
    const { reason: rejectionReason = REASON.notOpen, alternative, epoch = 1 } = context;
    const acceptance = { status: 'accepted', acceptedBy: this.#deps.agentId, epoch } as const;
    const why = {
      rejectionReason,
      ...(alternative === undefined ? {} : { alternativeSuggestion: alternative }),
    };
    switch (value) {
      case 'assigned':
      case 'taken':
        return { ...acceptance, isHeld: true };
      case 'givenBack':
      case 'takenBack':
      case 'lapsed':
        return { ...acceptance, ...why };
      case 'refused':
        return { status: rejectionReason === REASON.timedOut ? 'timed-out' : 'rejected', ...why };
      case 'declined':
        return { status: 'rejected', ...why };
      case 'expired':
        return { status: 'timed-out', ...why };
      default:
        return {};
    }
  }

  isFrom(agentId: string): boolean {
    return agentId === this.#proposal.proposerAgentId;
  }

  /** Begins a new one, or goes on from where it stood. */
  start(): void {
    if (!this.#wasLeft) this.#note('received');
    this.#machine.start();
    if (!this.#wasLeft) this.#put();
  }

  /**
   * The proposal has come again, in this envelope. True when it is to be considered: the agent has not decided, and in this
   * thread it has not been asked yet.
   */
  isToBeShown(envelopeId: string): boolean {
    if (!this.#isToBeShown || !this.#isUndecided) return false;
    this.#isToBeShown = false;
    this.#envelopeId = envelopeId;
    this.#put();
    return true;
  }

  /** The agent will not come to answer this envelope. What it had decided before its thread or process ended, it had. */
  lost(envelopeId: string, reason: string): void {
    if (envelopeId !== this.#envelopeId || (this.#wasLeft && !this.#isUndecided)) return;
    this.decline(reason);
  }

  /** The system stops, and the proposal goes on in the next process: whoever waits for it gets `why`. */
  leave(why: Error): void {
    this.#machine.stop();
    this.#accepted?.reject(why);
  }

  /** Does what was decided, unless the proposal was decided otherwise meanwhile. */
  follow(decision: Decision): void {
    if (!this.#isUndecided) return;
    if (decision.isTakenOn) this.#accept(decision.estimatedCompletionMs);
    else this.decline(decision.reason, decision.alternative);
  }

  /** Resolves when the task is this agent's. While it has it, the new estimate counts from now. */
  accept(estimateMs: number): Promise<void> {
    if (this.#machine.matches('assigned')) {
      this.#machine.send({ type: 'estimate.changed', estimateMs });
      return Promise.resolve();
    }
    this.#accepted ??= Promise.withResolvers<void>();
    const { promise } = this.#accepted;
    if (this.#isUndecided) this.#accept(estimateMs);
    return promise;
  }

  /** Declines; takes an acceptance back that has not been answered. */
  decline(reason: string, alternative?: string): void {
    const type = this.#isUndecided ? 'agent.declines' : 'agent.releases';
    this.#machine.send({ type, reason, alternative });
  }

  /** The assignment is over. */
  release(reason: string): void {
    this.#machine.send({ type: 'agent.releases', reason });
  }

  /** The agent's actor has ended. */
  end(reason: string): void {
    this.decline(reason);
    this.#machine.stop();
  }

  /** The proposer says that the agent has the task. True when that is news. */
  assigned({ acceptedBy, epoch, round, leaseMs }: AssignmentMessage): boolean {
    if (acceptedBy !== this.#deps.agentId || round === undefined) return false;
    const leaseLeftMs = this.#lease.leaseLeftMs(round, leaseMs);
    if (leaseLeftMs === undefined) return false;
    const wasHeld = this.#machine.matches('assigned');
    this.#machine.send({ type: 'assignment.received', epoch, leaseLeftMs });
    return !wasHeld && this.#machine.matches('assigned');
  }

  /** The proposer says that it does not, or no more. True when that is news. */
  refused(reason: string): boolean {
    if (this.#machine.isOver) return false;
    this.#machine.send({ type: 'refusal.received', reason });
    return true;
  }

  get #isUndecided(): boolean {
    return this.#machine.matches('considering');
  }

  #accept(estimateMs: number): void {
    this.#machine.send({ type: 'agent.accepts', estimateMs });
  }

  // What the machine has done

  #tellAccepted(): void {
    const { isPlain } = this.#options;
    const { epoch, estimateMs } = this.#machine.context;
    const { proposalId } = this.#proposal;
    const payload: AcceptanceMessage = {
      acceptedBy: this.#deps.agentId,
      estimatedCompletionMs: estimateMs,
      ...(isPlain ? {} : { proposalId, round: this.#lease.sending() }),
      ...(epoch === undefined ? {} : { epoch }),
    };
    void this.#send('task-accept', payload).then(({ delivered, errorCode = 'DELIVERY_FAILED' }) => {
      if (!delivered && !mayPassLater(errorCode)) this.refused(errorCode);
    });
  }

  #tellRejected(): void {
    const { reason: rejectionReason = REASON.notOpen, alternative } = this.#machine.context;
    const { proposalId } = this.#proposal;
    const payload: RejectionMessage = {
      rejectionReason,
      ...(this.#options.isPlain ? {} : { proposalId }),
      ...(alternative === undefined ? {} : { alternativeSuggestion: alternative }),
    };
    void this.#send('task-reject', payload);
  }

  #send(type: 'task-accept' | 'task-reject', payload: unknown) {
    const { correlationId, proposerAgentId } = this.#proposal;
    const sent = this.#deps.port.send({
      recipient: proposerAgentId,
      type,
      payload,
      inReplyTo: this.#envelopeId,
      correlationId,
      behalf: this.#options.behalf,
    });
    this.#lastSent = sent;
    return sent;
  }

  /** The machine has made a step from `before`. */
  #followed(before: string): void {
    this.#put();
    const { value, context } = this.#machine;
    if (value === before) return;
    this.#decided.resolve(undefined);
    const { store } = this.#deps;
    switch (value) {
      case 'considering':
      case 'offered':
        return;
      case 'assigned':
      case 'taken':
        this.#note('assigned');
        afterStored(store, () => this.#accepted?.resolve());
        // Nothing is asked of the agent any more, and nothing granted.
        return value === 'taken' ? this.#options.onOver() : undefined;
      case 'givenBack':
      case 'takenBack':
      case 'lapsed':
        this.#note('ended', context.reason);
        return this.#over();
      default: {
        this.#note(value, context.reason);
        const { proposal } = this.record;
        afterStored(store, () => this.#accepted?.reject(notToBeHad(proposal)));
        return this.#over();
      }
    }
  }

  #over(): void {
    const { port } = this.#deps;
    this.#options.onOver();
    // Its last message is still an answer.
    void this.#lastSent.then(() => port.endGrant(this.#envelopeId, this.#proposal.proposerAgentId));
  }

  // What outlives it

  /** It answers before the last of its timers has fired, or when it does. */
  #holdGrant(timers: readonly { readonly id: string; readonly atMs: number }[]): void {
    const { clock, port } = this.#deps;
    const nowMs = clock.now();
    const lease = timers.find(({ id }) => id === 'lease');
    if (lease !== undefined) this.#lease.goOn(lease.atMs - nowMs);
    const untilMs = Math.max(nowMs, ...timers.map(({ atMs }) => atMs)) + GRACE_MS;
    port.holdGrant(this.#envelopeId, this.#proposal.proposerAgentId, untilMs);
  }

  /** In the same step in which what it says is sent: nobody knows of a state that could be forgotten. */
  #put(): void {
    const { store } = this.#deps;
    const { record } = this;
    if (store.machineOf === undefined || record.isOver) return store.put(record);
    const machine = {
      side: 'got',
      run: this.#machine.persist(),
      envelopeId: this.#envelopeId,
      behalf: this.#options.behalf,
      round: this.#lease.round,
    };
    store.put(record, machine as unknown as PersistedIncoming);
  }

  #note(type: NegotiationEventType, reason?: string): void {
    const { proposal } = this.record;
    const why = reason === undefined ? {} : { reason };
    const timestamp = this.#deps.clock.now();
    this.#deps.note({ type, proposal, agentId: proposal.proposerAgentId, timestamp, ...why });
  }
}

/** Acceptances whose time is remembered. */
const ROUNDS_KEPT = 16;

/**
 * How long an agent has what was assigned to it.
 *
 * A lease counts from when the agent sent the acceptance that it answers. The proposer counts from when it answered, which
 * is later, whatever the messages took; so the agent's lease ends first (Gray and Cheriton, Leases, 1989). All that is
 * asked of the clocks is that they run at the same rate.
 */
export class LeaseClock {
  readonly #clock: Pick<Clock, 'monotonicMs'>;
  readonly #sentAtMs = new Map<number, number>();
  #round: number;
  #untilMs = Number.NEGATIVE_INFINITY;

  /**
   * `firstRound`: one that no former life of the agent has used, because an answer to that must not count as one to this.
   * @default 0
   */
  constructor(clock: Pick<Clock, 'monotonicMs'>, firstRound = 0) {
    this.#clock = clock;
    this.#round = firstRound - 1;
  }

  /** The last round that was sent. */
  get round(): number {
    return this.#round;
  }

  /** The agent has had the task already, and has it for so long still. */
  goOn(leaseLeftMs: number): void {
    this.#untilMs = this.#clock.monotonicMs() + leaseLeftMs;
  }

  /** An acceptance is sent now; returns its round. */
  sending(): number {
    this.#round += 1;
    this.#sentAtMs.set(this.#round, this.#clock.monotonicMs());
    this.#sentAtMs.delete(this.#round - ROUNDS_KEPT);
    return this.#round;
  }

  /**
   * An assignment that answers `round` has come. Returns how long it still lasts, an earlier one included; undefined when
   * it came too late, or answers nothing that was sent.
   */
  leaseLeftMs(round: number, leaseMs: number): number | undefined {
    const sentAtMs = this.#sentAtMs.get(round);
    if (sentAtMs === undefined) return undefined;
    this.#untilMs = Math.max(this.#untilMs, sentAtMs + leaseMs);
    const leftMs = this.#untilMs - this.#clock.monotonicMs();
    return leftMs > 0 ? leftMs : undefined;
  }
}
