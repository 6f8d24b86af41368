import { MachineHost } from '../../runtime/machine/machine-host.ts';
import type { ActorRow } from '../../runtime/protocol/roster.ts';
import { cancelled, type ErrorCode } from '../../runtime/protocol/errors.ts';
import { hopsOf } from '../../runtime/protocol/inheritance.ts';
import type { Clock } from '../../runtime/protocol/seams.ts';
import { behalfOf, type Delegation, type Sent } from '../../runtime/public.ts';
import type { AgentPort, PortMessage } from '../agent-port/agent-port.ts';
import {
  type AcceptanceMessage,
  type AssignmentMessage,
  REASON,
  type RejectionMessage,
} from './negotiation-message.ts';
import {
  type AnswerEffect,
  answerEffect,
  asProposed,
  mayPassLater,
  messageTo,
  type ProposalAnswer,
  type ProposalRecord,
  type TaskProposal,
  withAnswer,
} from './proposal.ts';
import type { NegotiationEvent, NegotiationEventType } from './proposal-event.ts';
import {
  afterStored,
  outgoingMachine,
  type PersistedOutgoing,
  type ProposalStore,
} from './proposal-store.ts';
import { proposerMachine } from './proposer.machine.ts';

/** What an agent says to a proposal; `envelopeId` is undefined where the router speaks for it. */
export interface Answered<Message> {
  readonly agentId: string;
  readonly message: Message;
  readonly envelopeId: string | undefined;
}

/** What every proposal of a negotiator is made with. */
export interface ProposalDeps {
  readonly agentId: string;
  readonly clock: Clock;
  readonly port: AgentPort;
  readonly store: ProposalStore;
  readonly note: (event: NegotiationEvent) => void;
}

/**
 * - `alternatives`  how many agents that others name may be asked beside.
 * - `justification` why a lower tier proposes to a higher one.
 * - `port`          that of the work in which it is proposed.
 * - `delegation`    what that work passes on to whoever is asked and has it.
 * - `onOver`        called once, when nothing can change any more.
 */
export interface OutgoingOptions {
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

/** A proposal that its agent has made: the machine, what its steps send, and what answers mean to it. */
export class OutgoingProposal {
  readonly #deps: ProposalDeps;
  readonly #options: OutgoingOptions;
  /** As it was proposed. */
  readonly #proposal: TaskProposal;
  readonly #machine: MachineHost<typeof proposerMachine>;
  /** In the order in which they were asked. */
  readonly #asked = new Map<string, Asked>();
  /** The last assignment that may have reached its holder. */
  #toldEpoch = 0;
  readonly #settled = Promise.withResolvers<TaskProposal>();
  /** It goes on from a former thread or process. */
  readonly #wasLeft: boolean;
  #answers: readonly ProposalAnswer[];

  /** `left`: its machine and its answers when its former thread or process ended. A new one is put into the store. */
  constructor(
    deps: ProposalDeps,
    proposal: TaskProposal,
    options: OutgoingOptions,
    left?: { readonly machine: PersistedOutgoing; readonly answers: readonly ProposalAnswer[] },
  ) {
    this.#deps = deps;
    this.#options = options;
    this.#proposal = asProposed(proposal);
    this.#wasLeft = left !== undefined;
    this.#answers = left?.answers ?? [];
    const { asked, alternatives: alternativesLeft, leaseMs } = options;
    for (const agentId of asked) {
      const acceptance = left?.machine.acceptances.find((one) => one.agentId === agentId);
      this.#asked.set(agentId, {
        proposalEnvelopeId: undefined,
        acceptance: acceptance && { ...acceptance, envelopeId: acceptance.envelopeId },
      });
    }
    // Whoever waited for one that goes on is gone.
    this.#settled.promise.catch(() => undefined);
    const { deadlineMs, proposalId: id } = proposal;
    this.#machine = new MachineHost(
      proposerMachine,
      {
        id,
        clock: deps.clock,
        watch: deps.port.steps,
        facts: ({ willing, holder, epoch }) => ({
          capabilities: proposal.requiredCapabilities.join(', '),
          asked: this.#asked.size,
          bids: willing.length,
          epoch,
          ...(holder === undefined ? {} : { holder }),
        }),
        actions: {
          askEverybody: () => this.#askAll(asked),
          askAlternative: ({ event }) =>
            this.#askAll('alternative' in event ? [event.alternative ?? ''] : []),
          tellHolder: ({ context }) => this.#tellHolder(context.holder as string, context.epoch),
          refuseOthers: ({ context }) => this.#refuseAll([...context.asked, ...context.willing]),
          refuseSender: ({ event }) => this.#refuseAll('agentId' in event ? [event.agentId] : []),
          refuseHolder: ({ context: { holder } }) => this.#refuseAll(holder === undefined ? [] : [holder]),
        },
      },
      left === undefined
        ? { input: { asked, alternativesLeft, deadlineMs, leaseMs } }
        : { persisted: outgoingMachine(left.machine) },
    );
    // Its last thread or process may have told the holder.
    this.#toldEpoch = this.#machine.context.epoch;
    this.#machine.observe(({ from }) => this.#followed(from.value));
    if (left === undefined) deps.store.put(this.record);
  }

  /** Resolves when the proposal is decided; rejects with CANCELLED when it was withdrawn by a signal. */
  get settled(): Promise<TaskProposal> {
    return this.#settled.promise;
  }

  /** The proposal as an actor. */
  get actor(): ActorRow {
    return this.#machine.row();
  }

  /** Where its machine stands: `pending.open`. */
  get state(): string {
    return this.#machine.stateName;
  }

  /** The proposal as its machine has it now, with whom it went to and every answer to it. */
  get record(): ProposalRecord {
    const taint = this.#deps.store.get(this.#proposal.proposalId)?.taint;
    return {
      proposal: { ...this.#proposal, ...this.#outcome },
      asked: [...this.#asked.keys()],
      answers: this.#answers,
      isOver: this.#machine.isOver,
      ...(taint === undefined ? {} : { taint }),
    };
  }

  /** What the machine says of the proposal. */
  get #outcome(): Partial<TaskProposal> {
    const { value, context } = this.#machine;
    const { reason: rejectionReason = REASON.lapsed } = context;
    switch (value) {
      case 'assigned':
        return { ...this.#acceptance, isHeld: true };
      case 'givenBack':
      case 'released':
      case 'lapsed':
        return { ...this.#acceptance, rejectionReason };
      case 'rejected':
        return { status: 'rejected', ...this.#rejection };
      case 'timedOut':
        return { status: 'timed-out', rejectionReason: REASON.timedOut };
      case 'withdrawn':
        return { status: 'rejected', rejectionReason };
      default:
        return {};
    }
  }

  get #acceptance(): Partial<TaskProposal> {
    const { holder = '', epoch } = this.#machine.context;
    const { estimatedCompletionMs } = this.#asked.get(holder)?.acceptance?.message ?? {};
    const estimate = estimatedCompletionMs === undefined ? {} : { estimatedCompletionMs };
    return { status: 'accepted', acceptedBy: holder, epoch, ...estimate };
  }

  /** What the last one has said who declined. */
  get #rejection(): Partial<TaskProposal> {
    const last = this.#answers.findLast(({ type, effect }) => type === 'task-reject' && effect === 'counted');
    const { reason: rejectionReason = REASON.lapsed, alternative } = last ?? {};
    return { rejectionReason, ...(alternative === undefined ? {} : { alternativeSuggestion: alternative }) };
  }

  /** Says whether the agent was asked in this conversation. */
  asksIn(correlationId: string | undefined, agentId: string): boolean {
    return this.#proposal.correlationId === correlationId && this.#asked.has(agentId);
  }

  /** Begins a new one, or goes on from where it stood. */
  start(): void {
    if (!this.#wasLeft) this.#note('proposed');
    this.#machine.start();
    if (!this.#wasLeft) this.#put();
  }

  /** Says again what its last thread or process may not have come to say, or those whom it told may have forgotten. */
  sayAgain(): void {
    const { asked, holder, epoch, isLate, plain } = this.#machine.context;
    if (this.#machine.isOver) return;
    if (!isLate) for (const agentId of asked) void this.#askAgain(agentId);
    if (holder !== undefined && !plain.includes(holder)) this.#tellHolder(holder, epoch);
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
    // What confirms or renews an assignment is no new answer.
    if (epoch === undefined) this.#answered(acceptanceIn(answer));
    this.#machine.send({ type: 'acceptance.received', agentId, epoch, isPlain: round === undefined });
  }

  rejected(answer: Answered<RejectionMessage>): void {
    const { agentId, message } = answer;
    const { rejectionReason: reason, alternativeSuggestion: suggested } = message;
    if (this.#answered(rejectionIn(answer)) !== 'counted') return;
    const alternative = suggested === undefined ? undefined : this.#askable(suggested);
    this.#machine.send({ type: 'rejection.received', agentId, alternative, reason });
  }

  withdraw(reason: string): void {
    this.#machine.send({ type: 'proposer.withdraws', reason });
  }

  /** Rejects whoever waits for the proposal with CANCELLED. */
  cancel(): void {
    if (!this.#isPending) return;
    this.#settled.reject(cancelled(`The proposal ${this.#proposal.proposalId}`));
    this.withdraw(REASON.withdrawn);
  }

  release(reason: string): void {
    this.#machine.send({ type: 'proposer.releases', reason });
  }

  /** The proposer is there no more: nobody is to take it or to keep it. */
  end(reason: string): void {
    if (this.#isPending) this.withdraw(reason);
    else this.release(reason);
    this.#machine.stop();
    this.#options.delegation?.end();
  }

  get #isPending(): boolean {
    return this.#machine.matches('pending');
  }

  /** Notes an answer with what becomes of it. */
  #answered(answer: Said): AnswerEffect {
    const { clock, note } = this.#deps;
    const { isOver, context } = this.#machine;
    const effect = answerEffect(this.record, isOver ? undefined : context, answer);
    const timestamp = clock.now();
    this.#answers = withAnswer(this.#answers, { ...answer, effect, atMs: timestamp });
    this.#deps.store.put(this.record);
    if (effect !== 'counted') note(ignored(this.record, answer.agentId, { effect, timestamp }));
    return effect;
  }

  // What outlives it

  /** In the same step in which what it says is sent: nobody knows of a state that could be forgotten. */
  #put(): void {
    const { store } = this.#deps;
    const { record } = this;
    if (store.machineOf === undefined || record.isOver) return store.put(record);
    const { justification, delegation } = this.#options;
    const acceptances = [...this.#asked.values()].flatMap(({ acceptance }) => acceptance ?? []);
    const passedOn = delegation && {
      ...behalfOf(delegation),
      path: delegation.path,
      deadlineAtMs: delegation.deadlineAtMs,
      hops: delegation.hops,
      isLimited: delegation.isLimited,
    };
    const run = this.#machine.persist();
    const machine = { side: 'made', run, acceptances, justification, delegation: passedOn };
    store.put(record, machine as unknown as PersistedOutgoing);
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
    const sent = await this.#post({ ...messageTo(agentId, this.#proposal, justification), delegation }, port);
    const asked = this.#asked.get(agentId);
    if (asked !== undefined) asked.proposalEnvelopeId ??= sent.envelopeId;
    return sent;
  }

  #unreachable(agentId: string, rejectionReason: ErrorCode = 'DELIVERY_FAILED'): void {
    this.rejected({ agentId, message: { rejectionReason }, envelopeId: undefined });
  }

  #tellHolder(agentId: string, epoch: number): void {
    const { proposalId, requiredCapabilities } = this.#proposal;
    const { acceptance, proposalEnvelopeId = proposalId } = this.#asked.get(agentId) ?? {};
    const { delegation, port, leaseMs } = this.#options;
    // Who has the task has been asked for it: what it does stands below that, though the proposal is answered.
    const hops = hopsOf({
      id: proposalEnvelopeId,
      type: 'task-proposal',
      payload: { requiredCapabilities },
      agent: agentId,
      capability: '',
    });
    const round = acceptance?.message.round;
    const payload: AssignmentMessage = {
      proposalId,
      acceptedBy: agentId,
      epoch,
      leaseMs,
      ...(round === undefined ? {} : { round }),
    };
    const assignment = {
      recipient: agentId,
      type: 'task-accept' as const,
      payload,
      delegation,
      hops,
      ...(acceptance?.envelopeId === undefined ? {} : { inReplyTo: acceptance.envelopeId }),
    };
    // Who was told before holds it until its lease ends, though it cannot be told again.
    const wasTold = epoch <= this.#toldEpoch;
    this.#toldEpoch = epoch;
    void this.#post(assignment, port).then(({ delivered, errorCode }) => {
      const isRefused = !delivered && !mayPassLater(errorCode);
      if (isRefused && !wasTold && !this.#machine.isOver) this.#unreachable(agentId, errorCode);
    });
  }

  #refuseAll(agentIds: readonly string[]): void {
    const rejectionReason = this.#refusalReason;
    const { proposalId } = this.#proposal;
    for (const agentId of agentIds) {
      const asked = this.#asked.get(agentId);
      const inReplyTo = asked?.acceptance?.envelopeId ?? asked?.proposalEnvelopeId;
      void this.#post({
        recipient: agentId,
        type: 'task-reject',
        payload: { proposalId, rejectionReason } satisfies RejectionMessage,
        behalf: this.#options.delegation,
        ...(inReplyTo === undefined ? {} : { inReplyTo }),
      });
    }
  }

  #post(message: PortMessage, port: AgentPort = this.#deps.port): Promise<Sent> {
    const { correlationId } = this.#proposal;
    const { justification } = this.#options;
    const why = justification === undefined ? {} : { justification };
    return port.send({ ...message, ...why, correlationId });
  }

  /** Why whoever asks now does not get it. */
  get #refusalReason(): string {
    const { value, context } = this.#machine;
    if (value === 'assigned') return REASON.taken;
    if (value === 'withdrawn' || value === 'released') return context.reason ?? REASON.withdrawn;
    return value === 'timedOut' || context.isLate ? REASON.timedOut : REASON.notOpen;
  }

  /** The suggested agent, if it may be asked: it is another one, offers what is required, and may be written to. */
  #askable(agentId: string): string | undefined {
    const { port } = this.#deps;
    const isOpen = this.#machine.matches('pending') && this.#machine.context.alternativesLeft > 0;
    if (!isOpen || this.#asked.has(agentId)) return undefined;
    if (!port.whoOffers(this.#proposal.requiredCapabilities).includes(agentId)) return undefined;
    const message = messageTo(agentId, this.#proposal, this.#options.justification);
    return port.judge(message) === undefined ? agentId : undefined;
  }

  /** The machine has made a step from `before`. */
  #followed(before: unknown): void {
    this.#put();
    const { isOver } = this.#machine;
    if (isOver) this.#options.onOver();
    const wasPending = typeof before === 'object';
    if (wasPending && !this.#isPending) this.#decided();
    else if (before === 'assigned' && isOver) this.#ended();
  }

  #decided(): void {
    const { proposal } = this.record;
    const { status, acceptedBy: agentId, rejectionReason: reason } = proposal;
    this.#note(status as NegotiationEventType, {
      ...(agentId === undefined ? {} : { agentId }),
      ...(reason === undefined ? {} : { reason }),
      ...(status === 'timed-out' ? { errorCode: 'PROPOSAL_TIMEOUT' as const } : {}),
    });
    afterStored(this.#deps.store, () => this.#settled.resolve(proposal));
  }

  #ended(): void {
    const { acceptedBy: agentId = '', rejectionReason: reason = '' } = this.record.proposal;
    this.#note('ended', { agentId, reason });
  }

  #note(
    type: NegotiationEventType,
    about: Pick<NegotiationEvent, 'agentId' | 'reason' | 'errorCode'> = {},
  ): void {
    const { proposal } = this.record;
    this.#deps.note({ type, proposal, timestamp: this.#deps.clock.now(), ...about });
  }
}

/** The event of an answer that has no effect. */
export const ignored = (
  { proposal }: ProposalRecord,
  agentId: string,
  { effect: reason, timestamp }: { readonly effect: AnswerEffect; readonly timestamp: number },
): NegotiationEvent => ({ type: 'answer-ignored', proposal, timestamp, agentId, reason });

/** An answer before it is known what becomes of it. */
type Said = Omit<ProposalAnswer, 'effect' | 'atMs'>;

export const acceptanceIn = ({ agentId, envelopeId, message }: Answered<AcceptanceMessage>): Said => {
  const { estimatedCompletionMs } = message;
  const estimate = estimatedCompletionMs === undefined ? {} : { estimatedCompletionMs };
  return { agentId, type: 'task-accept', ...named(envelopeId), ...estimate };
};

export const rejectionIn = ({ agentId, envelopeId, message }: Answered<RejectionMessage>): Said => {
  const { rejectionReason: reason, alternativeSuggestion: alternative } = message;
  const instead = alternative === undefined ? {} : { alternative };
  return { agentId, type: 'task-reject', reason, ...named(envelopeId), ...instead };
};

const named = (envelopeId: string | undefined): { envelopeId?: string } =>
  envelopeId === undefined ? {} : { envelopeId };
