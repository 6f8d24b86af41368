import type { ActorContext } from '../agent/context.ts';
import { type Behalf, behalfOf } from '../mailbox/behalf.ts';
import type { StepWatch } from '../protocol/step-watch.ts';
import { Mail, type MailExtras, NO_ASK, typeIndex } from '../mailbox/mail.ts';
import { outsidersBy } from '../mailbox/outsider.ts';
import { requesterOf } from '../protocol/requester.ts';
import { bindMethods } from '../protocol/bind-methods.ts';
import type { Delivery, PathHop } from '../protocol/envelope.ts';
import { agentNotFound, invalidOptions } from '../protocol/errors.ts';
import { type Verdict, verdictOf } from '../protocol/policy.ts';
import type { Seams } from '../protocol/seams.ts';
import type { SystemEvent } from '../protocol/system-event.ts';
import { taintFrom } from '../protocol/taint-from.ts';
import { mergeTaint, type Taint } from '../protocol/taint.ts';
import { READINESS } from '../routing/agent-status-memory.ts';
import type { AgentOffer } from '../routing/offered-profile.ts';
import { RegistryView } from '../routing/registry-view.ts';
import type { RoutingTable } from '../routing/routing-table.ts';
import type { AgentRecords } from './agent-records.ts';
import { absorbTaint, taintOn, absorbAtClient } from './cell-taint.ts';
import type { Cell } from './cell.ts';
import {
  type Delegation,
  delegationAgain,
  delegationOf,
  type DelegationRecord,
  fundsUnder,
} from './delegation.ts';
import type { Handling } from './handling.ts';
import type { Identity } from './mail-maker.ts';
import type { AgentClient, Asking, Outgoing, SeenTeam, Sent } from './interceptor.ts';
import { WaitingValue } from './waiting-asks.ts';

const REQUEST = typeIndex('request');
const STREAM_START = typeIndex('stream-start');

/** What interceptors do in the name of the agent of one cell. */
export class CellClient implements AgentClient {
  readonly held = new Map<string, unknown>();
  records: AgentRecords | undefined;
  /** What is being shown to interceptors. */
  #shown: MailExtras | undefined;
  readonly #cell: Cell;
  #team: SeenTeam | undefined;
  #steps: StepWatch | undefined;
  /** Of the keys of whoever is outside. */
  #outsiders: ReturnType<typeof outsidersBy> | undefined;

  static {
    bindMethods(CellClient.prototype);
  }

  constructor(cell: Cell) {
    this.#cell = cell;
  }

  get agentId(): string {
    return this.#cell.row.id;
  }

  get seams(): Seams {
    return this.#cell.thread.seams;
  }

  get taint(): Taint | undefined {
    return mergeTaint(taintOn(this.#cell, undefined), this.#shown?.taint);
  }

  absorbTaint(taint: Taint, by?: ActorContext<unknown>): void {
    const { mail } = (by ?? {}) as Partial<Handling>;
    if (mail !== undefined) absorbTaint(this.#cell, mail, taint);
    absorbAtClient(this.#cell, taint);
  }

  /** Runs `show`; what interceptors keep and send meanwhile is of the taint of this mail, too, and on whose behalf that is. */
  showing<Result>({ extras }: Mail, show: () => Result): Result {
    const before = this.#shown;
    const taint = mergeTaint(before?.taint, extras?.taint);
    this.#shown = taint === extras?.taint ? extras : { ...extras, ...(taint && { taint }) };
    try {
      return show();
    } finally {
      this.#shown = before;
    }
  }

  get mailbox(): AgentClient['mailbox'] {
    return { waiting: this.#cell.waiting, capacity: this.#cell.row.profile.mailboxCapacity };
  }

  get capabilities(): readonly string[] {
    return this.#cell.row.profile.capabilityIds;
  }

  handles(name: string): boolean {
    return this.#cell.handles(name);
  }

  whoOffers(capabilities: readonly string[], seenBy: string = this.agentId): readonly string[] {
    const { table, judge } = this.#cell.thread;
    const [first, ...others] = capabilities;
    const found: string[] = [];
    for (const row of first === undefined ? table.rows() : table.withCapability(first)) {
      const { id, profile } = row;
      if (id === this.agentId || !others.every((other) => profile.capabilityIds.includes(other))) continue;
      if (judge.isSeen(seenBy, row)) found.push(id);
    }
    return found;
  }

  loadOf(agentId: string): number {
    const { table, agentStatus } = this.#cell.thread;
    const slot = table.get(agentId)?.slot ?? -1;
    if (slot < 0) return 0;
    return agentStatus.readinessOf(slot) === READINESS.ended
      ? Number.POSITIVE_INFINITY
      : agentStatus.loadOf(slot);
  }

  get team(): SeenTeam {
    this.#team ??= seenTeam(this.#cell);
    return this.#team;
  }

  nameOf(agentId: string): string {
    return this.#cell.thread.table.get(agentId)?.profile.card.name ?? agentId;
  }

  judge(message: Outgoing): Verdict | undefined {
    const { thread, row } = this.#cell;
    const recipient = thread.table.get(message.recipient);
    if (recipient === undefined) return verdictOf(agentNotFound(message.recipient));
    const manner = { isBroadcast: false, expectsReply: message.expectsReply === true };
    const mail = this.#mailOf(message, undefined);
    return thread.judge.judge(row.party, recipient, mail, manner, mail.timestamp);
  }

  send(message: Outgoing, cause?: ActorContext<unknown>): Sent {
    const { thread, row } = this.#cell;
    const parent = cause as Handling | undefined;
    const mail = this.#mailOf(message, parent);
    const { expectsReply = false, delegation, type } = message;
    const funds = delegation && fundsUnder(delegation, type);
    const result = thread.mailSender.send(row, mail, { parent, expectsReply, funds });
    return { ...result, envelopeId: mail.id };
  }

  behalfOf(cause?: ActorContext<unknown>): Behalf {
    return behalfOf(this.#causeOf(cause as Handling | undefined)) ?? {};
  }

  delegationOf(cause: ActorContext<unknown>): Delegation {
    return delegationOf(this.#cell.thread.accounts, cause as Handling);
  }

  delegationAgain(record: DelegationRecord): Delegation {
    return delegationAgain(this.#cell.thread.accounts, record);
  }

  ask(asking: Asking, cause?: ActorContext<unknown>): Promise<unknown> {
    const { thread } = this.#cell;
    const parent = cause as Handling | undefined;
    return new Promise((resolve, reject) => {
      const mail = this.#askOf(asking, parent);
      const waiting = new WaitingValue(mail, parent, resolve, reject, asking);
      if (parent === undefined) waiting.absorbs = this.#absorbs;
      thread.mailSender.askLater(this.#askerOf(asking), waiting, asking);
    });
  }

  stream(asking: Asking, cause?: ActorContext<unknown>): AsyncIterable<unknown> {
    const parent = cause as Handling | undefined;
    const mail = this.#askOf(asking, parent, true);
    return this.#cell.thread.mailSender.streamLater(this.#askerOf(asking), mail, asking, parent);
  }

  refusalOf(asking: Asking): Verdict | undefined {
    const { thread } = this.#cell;
    const recipient = thread.table.get(asking.recipient);
    const { party } = this.#askerOf(asking);
    const mail = this.#askOf(asking, undefined);
    const manner = { isBroadcast: false, expectsReply: true };
    const verdict =
      recipient === undefined
        ? verdictOf(agentNotFound(asking.recipient))
        : thread.judge.judge(party, recipient, mail, manner, mail.timestamp);
    if (verdict !== undefined) thread.log.refusal(party, mail, verdict, recipient);
    return verdict;
  }

  isKeptFor(agentId: string): boolean {
    const { journal, table } = this.#cell.thread;
    return journal !== undefined && table.get(agentId)?.profile.durable === true;
  }

  deliveryOf(agentId: string): Delivery {
    return this.#cell.thread.table.get(agentId)?.profile.delivery ?? 'once';
  }

  holdGrant(envelopeId: string, peer: string, untilMs: number): void {
    this.#cell.thread.judge.holdGrantAgain(envelopeId, this.agentId, peer, untilMs);
  }

  endGrant(envelopeId: string, peer: string): void {
    this.#cell.thread.judge.endGrant(envelopeId, this.agentId, peer);
  }

  get steps(): StepWatch {
    this.#steps ??= this.#cell.thread.log.stepsOf(this.agentId);
    return this.#steps;
  }

  note(event: Omit<SystemEvent, 'timestamp'>): void {
    const { thread } = this.#cell;
    thread.log.note({ ...event, timestamp: thread.seams.clock.now() });
  }

  offer(offer: AgentOffer): void {
    this.#cell.thread.supervisor.offers(this.#cell, offer);
  }

  fail(error: unknown): void {
    this.#cell.crash(error, this.#cell.handlings.at(-1));
  }

  /** As whom it is judged: the agent, or somebody in whose name it asks. */
  #askerOf({ onBehalfOf }: Asking): Identity {
    const { row } = this.#cell;
    if (onBehalfOf === undefined) return row;
    const { id, tier, sandboxId } = onBehalfOf;
    const party = { id, tier, sandboxId, isSystem: false };
    return { id: row.id, slot: row.slot, party };
  }

  #askOf(asking: Asking, parent: Handling | undefined, isStream = false): Mail {
    const { thread, row } = this.#cell;
    const { envelopeId, recipient, capability, payload, justification, metadata, resumeFrom } = asking;
    const unknown = { ...metadata, ...(resumeFrom === undefined ? {} : { resumeFrom }) };
    const extras: MailExtras = isStream
      ? { stream: true }
      : envelopeId === undefined
        ? {}
        : { derived: true };
    if (justification !== undefined) extras.justification = justification;
    if (asking.isTool === true) {
      extras.tool = true;
      extras.delivery = 'once';
    }
    if (Object.keys(unknown).length > 0) extras.unknown = unknown;
    const taint = this.#taintOf(parent, asking.taint);
    if (taint !== undefined) extras.taint = taint;
    Object.assign(extras, this.#behalfOf(asking, parent));
    const mail = new Mail(
      isStream ? thread.seams.ids.next() : (envelopeId ?? thread.seams.ids.next()),
      thread.seams.ids.origin,
      isStream ? STREAM_START : REQUEST,
      row.id,
      recipient,
      asking.correlationId ?? parent?.correlationId,
      thread.turns.stamp(),
      payload,
      capability,
      earliest(asking.deadlineAtMs, parent?.deadlineAtMs ?? 0),
      NO_ASK,
      asking.path ?? parent?.childPath,
      extras,
    );
    mail.correlationId ??= mail.id;
    return mail;
  }

  /** What is being done: the work in hand, or else what interceptors are being shown. */
  #causeOf(parent: Handling | undefined): MailExtras | undefined {
    return parent?.mail === undefined ? this.#shown : parent.mail.extras;
  }

  /**
   * On whose behalf it is asked: as the work in hand is done. Without that the embedder alone is believed when it asks on
   * behalf of somebody outside, who is then charged with what that breaks.
   */
  #behalfOf(asking: Asking, parent: Handling | undefined): Behalf | undefined {
    const { onBehalfOf } = asking;
    const known = behalfOf(parent?.mail === undefined ? asking.behalf : parent.mail.extras);
    if (parent?.mail !== undefined || onBehalfOf === undefined || !this.#cell.row.party.isSystem)
      return known;
    this.#outsiders ??= outsidersBy(this.seams.newId());
    return {
      ...known,
      requester: requesterOf(onBehalfOf),
      outsider: this.#outsiders(onBehalfOf.chargedAs ?? onBehalfOf.id),
    };
  }

  /** What interceptors take in they take in for the agent. */
  readonly #absorbs = (taint: Taint): void => this.absorbTaint(taint);

  #taintOf(parent: Handling | undefined, given: Taint | undefined): Taint | undefined {
    const own = mergeTaint(taintOn(this.#cell, parent?.mail), this.#shown?.taint);
    return mergeTaint(own, given && taintFrom(given));
  }

  /** Its id is never derived from the envelope in hand: what is sent here is not the same in another attempt. */
  #mailOf(message: Outgoing, parent: Handling | undefined): Mail {
    const { thread, row } = this.#cell;
    const { ids } = thread.seams;
    const { recipient, type, payload, inReplyTo, justification, schema, isFrame, isFleeting, delegation } =
      message;
    const taint = mergeTaint(this.#taintOf(parent, message.taint), delegation?.taint);
    const deadlineAtMs = delegation === undefined ? parent?.deadlineAtMs : delegation.deadlineAtMs;
    const extras: MailExtras = {
      ...behalfOf(message.behalf ?? delegation ?? this.#causeOf(parent)),
      ...(inReplyTo === undefined ? {} : { inReplyTo }),
      ...(justification === undefined ? {} : { justification }),
      ...(schema === undefined ? {} : { schema }),
      ...(isFrame === true ? { frame: true as const } : {}),
      ...(isFleeting === true ? { fleeting: true as const } : {}),
      ...(taint === undefined ? {} : { taint }),
    };
    return new Mail(
      ids.next(),
      ids.origin,
      typeIndex(type),
      row.id,
      recipient,
      message.correlationId ?? parent?.correlationId,
      thread.turns.stamp(),
      payload,
      undefined,
      earliest(message.deadlineAtMs ?? 0, deadlineAtMs ?? 0),
      NO_ASK,
      withHops(delegation?.path ?? parent?.childPath, message.hops),
      Object.keys(extras).length === 0 ? undefined : extras,
    );
  }
}

const withHops = (
  path: readonly PathHop[] | undefined,
  hops: readonly PathHop[] | undefined,
): readonly PathHop[] | undefined => (hops === undefined ? path : [...(path ?? []), ...hops]);

/** The earlier of two deadlines; 0 is none. */
const earliest = (one: number, other: number): number =>
  one === 0 || other === 0 ? Math.max(one, other) : Math.min(one, other);

/**
 * The client of the agent whose context this is; for whoever writes an interceptor. Fails with INVALID_OPTIONS on what is no
 * context of an agent that runs.
 */
export function clientOf(ctx: ActorContext<unknown>): AgentClient {
  const client = (ctx as Partial<Handling> | undefined)?.cell?.client;
  if (client === undefined) throw invalidOptions('ctx', ctx, 'the context of an agent that runs');
  return client;
}

/**
 * What an agent is handling, as far as it is that: the envelope, its conversation and its deadline, Unix milliseconds;
 * whether a death has it tried again; and whether it is over or was cut short, so that nothing more is sent from there.
 */
export function workOf(ctx: ActorContext<unknown>): {
  readonly envelopeId: string | undefined;
  readonly correlationId: string | undefined;
  readonly deadlineAtMs: number | undefined;
  readonly isTriedAgain: boolean;
  readonly isOver: boolean;
} {
  const { mail, correlationId, deadlineAtMs, derivesIds, isOver, cutShort } = ctx as Handling;
  return {
    envelopeId: mail?.id,
    correlationId,
    deadlineAtMs: deadlineAtMs > 0 ? deadlineAtMs : undefined,
    isTriedAgain: derivesIds,
    isOver: isOver || cutShort !== undefined,
  };
}

/** Who runs here, as far as the agent of a cell may see them: itself, and whom the sandbox lets it ask. */
export function seenTeam({ thread, row }: Cell): SeenTeam {
  const { table, judge } = thread;
  const view = new RegistryView(table, (seen) => seen === row || judge.isSeen(row.id, seen, true));
  return {
    get edition() {
      return table.edition;
    },
    cards: () => view.getLocalCards(),
    watch: (listener) => watchLater(table, listener),
  };
}

/** In the middle of a change nothing can be sent: whoever is told of it is told right afterwards. */
function watchLater(table: Pick<RoutingTable, 'watch'>, listener: () => void): () => void {
  let isWatching = true;
  const unwatch = table.watch(() =>
    queueMicrotask(() => {
      if (isWatching) listener();
    }),
  );
  return () => {
    isWatching = false;
    unwatch();
  };
}
