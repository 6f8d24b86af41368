import { cancelled, type ErrorCode } from '../../runtime/protocol/errors.ts';
import { MachineHost } from '../../runtime/machine/machine-host.ts';
import type { Clock } from '../../runtime/protocol/seams.ts';
import { hopsOf } from '../../runtime/protocol/inheritance.ts';
import { behalfOf, type Delegation, type Outgoing, type Sent } from '../../runtime/public.ts';
import type { AgentPort } from '../agent-port/agent-port.ts';
import type { Answered, AnswerBook } from './answer-book.ts';
import { mayPassLater } from './negotiation-errors.ts';
import type { NegotiationEvent, NegotiationEventType } from './negotiation-event.ts';
import {
  type AcceptanceMessage,
  type AssignmentMessage,
  REASON,
  type RejectionMessage,
} from './negotiation-message.ts';
import { type ProposalRecord, withChange } from './proposal-record.ts';
import { proposalTo } from './proposal-to.ts';
import { longerLease, type MadeStanding } from './proposal-standing.ts';
import { afterKept, type ProposalStore } from './proposal-store.ts';
import { type ProposerContext, type ProposerEvent, proposerMachine } from './proposer.machine.ts';
import type { TaskProposal } from './task-proposal.ts';

export interface ProposingDeps {
  readonly clock: Clock;
  readonly port: AgentPort;
  readonly store: ProposalStore;
  readonly answers: AnswerBook;
  readonly note: (event: NegotiationEvent) => void;
}

/**
 * - `alternatives`  how many agents that others name may be asked beside.
 * - `justification` why a lower tier proposes to a higher one.
 * - `port`          that of the work in which it is proposed.
 * - `delegation`    what the work in which it is proposed passes on to whoever is asked and has it.
 * - `onOver`        called once, when nothing can change any more.
 */
export interface ProposingOptions {
  readonly asked: readonly string[];
  readonly alternatives: number;
  readonly leaseMs: number;
  readonly justification: string | undefined;
  readonly port: AgentPort;
  readonly delegation: Delegation | undefined;
  readonly onOver: () => void;
}

/** What is known of one agent that was asked. */
interface Asked {
  proposalEnvelopeId: string | undefined;
  /** Its last acceptance. */
  acceptance: Answered<AcceptanceMessage> | undefined;
}

/** One proposal at its proposer: the machine, and what its steps do and are answered with. */
export class Proposing {
  readonly #deps: ProposingDeps;
  readonly #options: ProposingOptions;
  readonly #proposalId: string;
  readonly #machine: MachineHost<typeof proposerMachine>;
  readonly #asked = new Map<string, Asked>();
  readonly #settled = Promise.withResolvers<TaskProposal>();
  #endReason: string = REASON.withdrawn;

  /** `left`: how it stood when its former thread or process ended; a new one is put into the store. */
  constructor(deps: ProposingDeps, proposal: TaskProposal, options: ProposingOptions, left?: MadeStanding) {
    this.#deps = deps;
    this.#options = options;
    this.#proposalId = proposal.proposalId;
    const { asked, alternatives: alternativesLeft, leaseMs } = options;
    if (left === undefined) deps.store.put({ proposal, asked, answers: [], isOver: false });
    else this.#remember(left);
    // Whoever waited for one that goes on is gone.
    this.#settled.promise.catch(() => undefined);
    const { deadlineMs } = proposal;
    this.#machine = new MachineHost(
      proposerMachine,
      {
        id: proposal.proposalId,
        clock: deps.clock,
        actions: {
          askEverybody: () => this.#askAll(asked),
          askAlternative: ({ event }) =>
            this.#askAll('alternative' in event ? [event.alternative ?? ''] : []),
          tellHolder: ({ context }) => this.#tellHolder(context.holder as string),
          refuseOthers: ({ context }) => this.#refuseAll([...context.asked, ...context.willing]),
          refuseSender: ({ event }) =>
            this.#refuse('agentId' in event ? event.agentId : '', this.#refusalReason),
          refuseHolder: ({ context: { holder } }) => this.#refuseAll(holder === undefined ? [] : [holder]),
        },
        // Whoever does not speak this protocol does not renew.
        mayArm: (id) => id !== 'lease' || !this.#isHolderPlain,
      },
      left === undefined
        ? { input: { asked, alternativesLeft, deadlineMs, leaseMs } }
        : { persisted: longerLease(left.run) },
    );
    this.#machine.observe(({ from }) => {
      this.#followed(from.value);
      this.#keepStanding();
    });
  }

  get isOver(): boolean {
    return this.#machine.isOver;
  }

  /** Resolves when the proposal is decided; rejects with CANCELLED when it was withdrawn by a signal. */
  get settled(): Promise<TaskProposal> {
    return this.#settled.promise;
  }

  /** Says whether the agent was asked in this conversation. */
  asksIn(correlationId: string | undefined, agentId: string): boolean {
    const { proposal, asked } = this.#record;
    return proposal.correlationId === correlationId && asked.includes(agentId);
  }

  start(): void {
    this.#note('proposed');
    this.#machine.start();
    this.#keepStanding();
  }

  /** It goes on from where it stood. */
  resume(): void {
    this.#machine.start();
  }

  /** Says again what its last thread or process may not have come to say, or those whom it told may have forgotten. */
  sayAgain(): void {
    const { asked, holder, isLate } = this.#context;
    if (this.isOver) return;
    if (!isLate) for (const agentId of asked) void this.#askAgain(agentId);
    if (holder !== undefined && !this.#isHolderPlain) this.#tellHolder(holder);
  }

  /** The system stops, and the proposal goes on in the next process: whoever waits for it gets `why`. */
  leave(why: Error): void {
    this.#machine.stop();
    this.#settled.reject(why);
  }

  accepted(answer: Answered<AcceptanceMessage>): void {
    const { agentId, message } = answer;
    const { epoch, round } = message;
    const asked = this.#asked.get(agentId);
    if (asked !== undefined) asked.acceptance = answer;
    this.#deps.answers.accepted(this.#proposalId, this.#context, answer);
    this.#send({ type: 'acceptance.received', agentId, epoch });
    if (round === undefined) this.#confirmPlain(agentId);
  }

  rejected(answer: Answered<RejectionMessage>): void {
    const { agentId, message } = answer;
    const { rejectionReason: reason, alternativeSuggestion: suggested } = message;
    if (this.#deps.answers.rejected(this.#proposalId, this.#context, answer) !== 'counted') return;
    const alternative = suggested === undefined ? undefined : this.#askable(suggested);
    if (agentId === this.#context.holder) this.#endReason = reason;
    this.#send({ type: 'rejection.received', agentId, alternative });
  }

  withdraw(reason: string): void {
    this.#endReason = reason;
    this.#send({ type: 'proposer.withdraws' });
  }

  /** Rejects whoever waits for the proposal with CANCELLED. */
  cancel(): void {
    if (this.#record.proposal.status !== 'pending') return;
    this.#settled.reject(cancelled(`The proposal ${this.#proposalId}`));
    this.withdraw(REASON.withdrawn);
  }

  release(reason: string): void {
    this.#endReason = reason;
    this.#send({ type: 'proposer.releases' });
  }

  /** The proposer is there no more: nobody is to take it or to keep it. */
  end(reason: string): void {
    if (this.#record.proposal.status === 'pending') this.withdraw(reason);
    else this.release(reason);
    this.#machine.stop();
    this.#options.delegation?.end();
  }

  // What outlives it

  #remember({ acceptances }: MadeStanding): void {
    for (const agentId of this.#record.asked) {
      const acceptance = acceptances.find((one) => one.agentId === agentId);
      this.#asked.set(agentId, {
        proposalEnvelopeId: undefined,
        acceptance: acceptance && { ...acceptance, envelopeId: acceptance.envelopeId },
      });
    }
  }

  /** In the same step in which what it says is sent: nobody knows of a state that could be forgotten. */
  #keepStanding(): void {
    const { store } = this.#deps;
    if (store.standingOf === undefined || this.isOver) return;
    const { justification, delegation } = this.#options;
    const acceptances = [...this.#asked.values()].flatMap(({ acceptance }) => acceptance ?? []);
    const passedOn = delegation && {
      ...behalfOf(delegation),
      path: delegation.path,
      deadlineAtMs: delegation.deadlineAtMs,
      hops: delegation.hops,
      isLimited: delegation.isLimited,
    };
    const standing = {
      side: 'made',
      run: this.#machine.persist(),
      acceptances,
      justification,
      delegation: passedOn,
    };
    store.put(this.#record, standing as MadeStanding);
  }

  get #record(): ProposalRecord {
    return this.#deps.store.get(this.#proposalId) as ProposalRecord;
  }

  get #context(): ProposerContext {
    return this.#machine.context;
  }

  #send(event: ProposerEvent): void {
    this.#machine.send(event);
  }

  // What the machine has done

  #askAll(agentIds: readonly string[]): void {
    for (const agentId of agentIds) {
      this.#asked.set(agentId, { proposalEnvelopeId: undefined, acceptance: undefined });
      void this.#ask(agentId);
    }
  }

  async #ask(agentId: string): Promise<void> {
    const { delivered, errorCode } = await this.#propose(agentId);
    if (!delivered) this.#unreachable(agentId, errorCode);
  }

  /** It may have what it was sent before; so it does not matter if there is no room for another one. */
  async #askAgain(agentId: string): Promise<void> {
    const { delivered, errorCode } = await this.#propose(agentId);
    if (!delivered && !mayPassLater(errorCode)) this.#unreachable(agentId, errorCode);
  }

  async #propose(agentId: string): Promise<Sent> {
    const { justification, port, delegation } = this.#options;
    const proposal = { ...proposalTo(agentId, this.#record.proposal, justification), delegation };
    const sent = await this.#post(proposal, port);
    const asked = this.#asked.get(agentId);
    if (asked !== undefined) asked.proposalEnvelopeId ??= sent.envelopeId;
    return sent;
  }

  #unreachable(agentId: string, rejectionReason: ErrorCode = 'DELIVERY_FAILED'): void {
    this.rejected({ agentId, message: { rejectionReason }, envelopeId: undefined });
  }

  #tellHolder(agentId: string): void {
    const { acceptance, proposalEnvelopeId = this.#proposalId } = this.#asked.get(agentId) ?? {};
    const { requiredCapabilities } = this.#record.proposal;
    const { delegation, port } = this.#options;
    // Who has the task has been asked for it: what it does stands below that, though the proposal is answered.
    const hops = hopsOf({
      id: proposalEnvelopeId,
      type: 'task-proposal',
      payload: { requiredCapabilities },
      agent: agentId,
      capability: '',
    });
    const payload: AssignmentMessage = {
      proposalId: this.#proposalId,
      acceptedBy: agentId,
      epoch: this.#context.epoch,
      leaseMs: this.#options.leaseMs,
      ...(acceptance?.message.round === undefined ? {} : { round: acceptance.message.round }),
    };
    const assignment: Omit<Outgoing, 'correlationId'> = {
      recipient: agentId,
      type: 'task-accept',
      payload,
      delegation,
      hops,
      ...(acceptance?.envelopeId === undefined ? {} : { inReplyTo: acceptance.envelopeId }),
    };
    void this.#post(assignment, port).then(({ delivered, errorCode }) => {
      if (!delivered && !mayPassLater(errorCode) && !this.isOver) this.#unreachable(agentId, errorCode);
    });
  }

  #refuseAll(agentIds: readonly string[]): void {
    for (const agentId of agentIds) this.#refuse(agentId, this.#refusalReason);
  }

  #refuse(agentId: string, rejectionReason: string): void {
    const asked = this.#asked.get(agentId);
    const inReplyTo = asked?.acceptance?.envelopeId ?? asked?.proposalEnvelopeId;
    void this.#post({
      recipient: agentId,
      type: 'task-reject',
      payload: { proposalId: this.#proposalId, rejectionReason } satisfies RejectionMessage,
      behalf: this.#options.delegation,
      ...(inReplyTo === undefined ? {} : { inReplyTo }),
    });
  }

  #post(message: Omit<Outgoing, 'correlationId'>, port: AgentPort = this.#deps.port): Promise<Sent> {
    const { correlationId } = this.#record.proposal;
    const { justification } = this.#options;
    const why = justification === undefined ? {} : { justification };
    return port.send({ ...message, ...why, correlationId });
  }

  /** Why whoever asks now does not get it. */
  get #refusalReason(): string {
    const { value, context } = this.#machine;
    if (value === 'assigned') return REASON.taken;
    if (value === 'withdrawn' || value === 'released') return this.#endReason;
    return value === 'timedOut' || context.isLate ? REASON.timedOut : REASON.notOpen;
  }

  // What comes in

  #confirmPlain(agentId: string): void {
    const { epoch, holder } = this.#context;
    if (holder === agentId && this.#record.proposal.status === 'pending')
      this.#send({ type: 'acceptance.received', agentId, epoch });
  }

  get #isHolderPlain(): boolean {
    const { holder } = this.#context;
    const acceptance = holder === undefined ? undefined : this.#asked.get(holder)?.acceptance;
    return acceptance !== undefined && acceptance.message.round === undefined;
  }

  /** The suggested agent, if it may be asked: it is another one, offers what is required, and may be written to. */
  #askable(agentId: string): string | undefined {
    const { proposal, asked } = this.#record;
    const { port } = this.#deps;
    if (asked.includes(agentId) || this.#context.alternativesLeft === 0) return undefined;
    if (this.#machine.value === 'assigned') return undefined;
    if (!port.whoOffers(proposal.requiredCapabilities).includes(agentId)) return undefined;
    if (port.judge(proposalTo(agentId, proposal, this.#options.justification)) !== undefined)
      return undefined;
    return agentId;
  }

  /** The machine has made a step from `before`: the record follows. */
  #followed(before: unknown): void {
    const { value, context } = this.#machine;
    this.#keepAsked(context);
    if (this.isOver) this.#options.onOver();
    if (JSON.stringify(value) === JSON.stringify(before)) return;
    switch (value) {
      case 'assigned':
        return this.#wasAccepted(context);
      case 'rejected':
        return this.#wasRejected();
      case 'timedOut':
        return this.#settle('timed-out', { status: 'timed-out', rejectionReason: REASON.timedOut });
      case 'withdrawn':
        return this.#settle('rejected', { status: 'rejected', rejectionReason: this.#endReason });
      case 'givenBack':
      case 'released':
        return this.#ended(this.#endReason);
      case 'lapsed':
        return this.#ended(REASON.lapsed);
    }
  }

  #keepAsked({ asked }: ProposerContext): void {
    const added = asked.filter((agentId) => !this.#record.asked.includes(agentId));
    if (added.length > 0) this.#deps.store.put({ ...this.#record, asked: [...this.#record.asked, ...added] });
  }

  #wasAccepted({ holder, epoch }: ProposerContext): void {
    const acceptedBy = holder as string;
    const estimate = this.#asked.get(acceptedBy)?.acceptance?.message.estimatedCompletionMs;
    const estimatedCompletionMs = estimate === undefined ? {} : { estimatedCompletionMs: estimate };
    this.#settle('accepted', {
      status: 'accepted',
      acceptedBy,
      epoch,
      isHeld: true,
      ...estimatedCompletionMs,
    });
  }

  #wasRejected(): void {
    const last = this.#record.answers.findLast(
      ({ type, effect }) => type === 'task-reject' && effect === 'counted',
    );
    const { reason: rejectionReason = REASON.lapsed, alternative } = last ?? {};
    this.#settle('rejected', {
      status: 'rejected',
      rejectionReason,
      ...(alternative === undefined ? {} : { alternativeSuggestion: alternative }),
    });
  }

  #settle(type: NegotiationEventType, change: Parameters<typeof withChange>[1]): void {
    this.#deps.store.put(withChange(this.#record, change, this.isOver));
    const { proposal } = this.#record;
    const { acceptedBy: agentId, rejectionReason: reason } = proposal;
    this.#note(type, {
      ...(agentId === undefined ? {} : { agentId }),
      ...(reason === undefined ? {} : { reason }),
      ...(type === 'timed-out' ? { errorCode: 'PROPOSAL_TIMEOUT' as const } : {}),
    });
    afterKept(this.#deps.store, () => this.#settled.resolve(proposal));
  }

  #ended(reason: string): void {
    this.#deps.store.put(withChange(this.#record, { isHeld: false, rejectionReason: reason }, true));
    const agentId = this.#record.proposal.acceptedBy as string;
    this.#note('ended', { agentId, reason });
  }

  #note(
    type: NegotiationEventType,
    about: Pick<NegotiationEvent, 'agentId' | 'reason' | 'errorCode'> = {},
  ): void {
    const { proposal } = this.#record;
    this.#deps.note({ type, proposal, timestamp: this.#deps.clock.now(), ...about });
  }
}
