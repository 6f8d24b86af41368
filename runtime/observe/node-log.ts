import { type Mail, messageTypeOf, toEnvelope } from '../mailbox/mail.ts';
import { BROADCAST } from '../protocol/envelope.ts';
import { type ErrorData, errorWithStack } from '../protocol/errors.ts';
import type { Party, Verdict } from '../protocol/policy.ts';
import type { Clock } from '../protocol/seams.ts';
import type { Taint } from '../protocol/taint.ts';
import { type AgentRow, routingPathTo } from '../protocol/agent-row.ts';
import type { DeadLetter } from '../protocol/dead-letter.ts';
import type { WatchedStep } from '../protocol/step-watch.ts';
import { AgentSteps, type StepLog } from './agent-steps.ts';
import type { EventReport } from './event-report.ts';
import { aboutMail, tiersOf } from './about-mail.ts';
import { eventKind } from './event-kind.ts';
import type { EventLimits } from './event-limits.ts';
import { crossingEvent, crossingOf, CrossingRing } from './crossing-ring.ts';
import { EventRing } from './event-ring.ts';
import { COUNT } from './thread-counters.ts';
import type { MachineFacts, Outcome, SystemEvent } from '../protocol/system-event.ts';
import { StreamSample } from '../protocol/stream-sample.ts';
import { ToolCounts } from './tool-counts.ts';
import { latencyOf, type Traffic, trafficEvents, type TrafficPlace, TrafficRing } from './traffic-ring.ts';

const NOTED_KEPT = 512;
const CHANNELS_KEPT = 256;
const TOOLS_KEPT = 512;
const EVENTS_A_POST = 512;
/** Security events and failures a second that go to the control thread. Of a flood, the rest stays in this thread. */
const AUDITED_A_SECOND = 200;
/** How long events that are chosen among many are gathered before they are posted, milliseconds. */
const STREAM_MS = 50;
const MAX_FACTS = 16;
const MAX_FACT_CHARS = 200;

/** Where a thread's log goes. */
export interface LogOutlet {
  /** There is something to report with the next flush. */
  planFlush(): void;
  /** Posts a report at once. */
  tell(report: EventReport): void;
  /** Called for a dead letter of a mail that the journal has. */
  keepLetter(mail: Mail, letter: DeadLetter): void;
}

export interface NodeLogDeps {
  readonly place: TrafficPlace;
  readonly clock: Clock;
  readonly counters: Float64Array;
  readonly partyOf: (id: string) => Party;
  readonly outlet: LogOutlet;
}

/** `mail`: the envelope of an event that is about the traffic of one. */
export type EventWatcher = (event: SystemEvent, mail: Mail | undefined) => void;

/**
 * What one thread tells of itself: rings of its last events, always on; every event while somebody listens; the dead
 * letters.
 *
 * Reports of envelopes are posted before the marks are committed, and count when they are. What does not depend on the
 * envelope in hand is posted at once: the thread may end before its next flush.
 */
export class NodeLog implements StepLog {
  /** The last envelopes. */
  readonly traffic: TrafficRing;
  readonly crossings: CrossingRing;
  /** All other events, except those that the control thread keeps. */
  readonly #noted = new EventRing<SystemEvent>(NOTED_KEPT);
  /** Channels that come and go must not drive out what is rare. */
  readonly #channels = new EventRing<SystemEvent>(CHANNELS_KEPT);
  /** Nor must calls of tools, of which there are many. */
  readonly #tools = new EventRing<SystemEvent>(TOOLS_KEPT);
  readonly toolCounts = new ToolCounts();
  /** Called before anything is told: whoever reads the rings may be behind. */
  beforeTelling: () => void = () => undefined;
  readonly #deps: NodeLogDeps;
  #streamed: SystemEvent[] | undefined;
  #watcher: EventWatcher | undefined;
  readonly #inspectedListeners = new Set<() => void>();
  /** Chooses what is streamed, where listeners do not want everything. */
  #sample: StreamSample | undefined;
  /** What was chosen and is not posted yet. */
  #chosen: SystemEvent[] = [];
  #isStreamDue = false;
  #letters: DeadLetter[] = [];
  /** The number of the last report. */
  #told = 0;
  /** A part of the next report has been posted already. */
  #isBegun = false;
  #secondMs = 0;
  #audited = 0;
  /** Security events that only this thread has, of a flood. */
  unaudited = 0;

  constructor(deps: NodeLogDeps, limits: Pick<EventLimits, 'traffic' | 'crossings'>) {
    this.#deps = deps;
    this.traffic = new TrafficRing(limits.traffic);
    this.crossings = new CrossingRing(limits.crossings);
  }

  /** Counts how long a routing decision took. */
  routed(latencyMs: number): void {
    this.#count(COUNT.routingMs, latencyMs);
    this.#count(COUNT.routings);
  }

  /** `partial`: what its work came to. */
  deadLetter(mail: Mail, recipient: string, why: ErrorData, partial?: unknown): void {
    const { sender } = mail;
    // Where every copy of a mail died, even its name may be lost.
    const id = mail.id === '' ? undefined : mail.id;
    const { tier, sandboxId } = this.#deps.partyOf(sender);
    const type = messageTypeOf(mail);
    const atMs = this.#deps.clock.now();
    const envelope = toEnvelope(mail, tier, sandboxId);
    const thrown = thrownOf(why.stack);
    const letter: DeadLetter = {
      id,
      sender,
      recipient,
      type,
      code: why.code,
      reason: why.message,
      ...thrown,
      atMs,
      envelope,
      ...(partial === undefined ? {} : { partial }),
    };
    this.#letters.push(letter);
    if (mail.kept > 0) this.#deps.outlet.keepLetter(mail, letter);
    if (this.#letters.length === 1) this.#deps.outlet.planFlush();
    this.note({
      ...this.#about(mail),
      type: 'dead-letter',
      recipient,
      errorCode: why.code,
      reason: why.message,
      success: false,
      ...thrown,
      ...(why.taint === undefined ? {} : { taint: why.taint }),
    });
  }

  /** Posts what the next commit counts, and returns the number of that report. */
  tell(): number {
    this.beforeTelling();
    const letters = this.#letters;
    const events = this.#streamed ?? [];
    if (letters.length === 0 && events.length === 0 && !this.#isBegun) return this.#told;
    this.#told += 1;
    this.#isBegun = false;
    if (letters.length > 0) this.#letters = [];
    if (events.length > 0) this.#streamed = [];
    if (letters.length > 0 || events.length > 0)
      this.#deps.outlet.tell({ t: 'told', number: this.#told, letters, events });
    return this.#told;
  }

  /** An envelope ended without being handled. */
  closed(agentId: string, mail: Mail, outcome: Outcome, why: ErrorData): void {
    const { code: errorCode, message: reason, stack } = why;
    this.note({
      ...this.#about(mail),
      type: 'error',
      agentId,
      outcome,
      errorCode,
      reason,
      success: false,
      ...thrownOf(stack),
    });
  }

  error(agentId: string, error: unknown): void {
    const { code, message, stack } = errorWithStack(error);
    const timestamp = this.#deps.clock.now();
    this.note({
      type: 'error',
      timestamp,
      agentId,
      errorCode: code,
      reason: message,
      success: false,
      ...thrownOf(stack),
    });
  }

  progress(agentId: string, mail: Mail, fraction: number, note: string | undefined): void {
    this.note({
      ...this.#about(mail),
      type: 'progress',
      agentId,
      fraction,
      ...(mail.capability === undefined ? {} : { capability: mail.capability }),
      ...(note === undefined ? {} : { reason: note }),
    });
  }

  /**
   * Counts a refusal and notes it; one by a policy is a security event.
   *
   * - `row`       whom it was meant for, if known.
   * - `latencyMs` how long deciding took.
   */
  refusal(
    sender: Party,
    mail: Mail,
    { code, reason }: Verdict,
    row: AgentRow | undefined,
    latencyMs = Number.NaN,
  ): void {
    this.#count(COUNT.refused);
    const isFull = code === 'MAILBOX_FULL';
    // One event for each refused envelope would drive everything else out of the ring.
    if (isFull && (!this.isTold || !this.#takes(mail, this.#deps.clock.now()))) return;
    const security = row !== undefined && !isFull;
    if (security) this.#count(COUNT.securityEvents);
    this.note({
      ...this.#about(mail),
      type: 'routing-decision',
      sender: sender.id,
      routingPath:
        mail.recipient === BROADCAST ? 'broadcast' : row === undefined ? 'local' : routingPathTo(row),
      targetAgentId: row?.id ?? mail.recipient,
      ...latencyOf(latencyMs),
      success: false,
      errorCode: code,
      reason,
      ...tiersOf(sender, row?.party),
      ...(security ? { security: true } : {}),
    });
  }

  /** An agent says that what came from outside is not in it any more. */
  declaredClean(agentId: string, mail: Mail | undefined, taint: Taint, reason: string): void {
    this.#count(COUNT.securityEvents);
    const about = mail === undefined ? { timestamp: this.#deps.clock.now() } : this.#about(mail);
    this.#audit({
      ...about,
      type: 'declared-clean',
      place: this.#deps.place.id,
      agentId,
      taint,
      reason,
      security: true,
    });
  }

  /** An envelope went from one tier to another. */
  crossTier(sender: Party, row: AgentRow, mail: Mail): void {
    this.#count(COUNT.crossTier);
    this.crossings.note(mail, sender.tier, row);
    if (!this.isTold || !this.#takes(mail, mail.timestamp)) return;
    this.#stream(crossingEvent(crossingOf(mail, sender.tier, row), this.#deps.place.id));
  }

  /** What is remembered, as the events that users see. */
  recentEvents(): SystemEvent[] {
    const { place } = this.#deps;
    const events = [
      ...this.#noted.toArray(),
      ...this.#channels.toArray(),
      ...this.#tools.toArray(),
      ...this.crossings.toEvents(place.id),
    ];
    for (const traffic of this.traffic.entries()) events.push(...trafficEvents(traffic, place));
    return events;
  }

  /** Keeps an event, and streams it while somebody listens. */
  note(event: SystemEvent): void {
    if (event.type === 'error') this.#count(COUNT.errors);
    if (event.type === 'model-call') this.#countModelCall(event);
    if (event.type === 'tool-invocation') this.#countToolCall(event);
    const placed = { ...event, place: this.#deps.place.id };
    const kind = eventKind(placed);
    if (kind !== 'traffic' && this.#mayAudit()) return this.#audit(placed);
    if (kind === 'security') this.unaudited += 1;
    this.#ringOf(event).push(placed);
    if (!this.isTold || !this.#isSampled(placed)) return;
    this.#stream(placed);
    if (event.type !== 'dead-letter' && event.outcome === undefined) this.#postFacts();
  }

  /** The control thread keeps it, and streams it. */
  #audit(event: SystemEvent): void {
    this.#watcher?.(event, undefined);
    this.#postStreamed();
    this.#deps.outlet.tell({ t: 'audited', event });
  }

  #mayAudit(): boolean {
    const nowMs = this.#deps.clock.now();
    if (nowMs - this.#secondMs >= 1_000 || nowMs < this.#secondMs) {
      this.#secondMs = nowMs;
      this.#audited = 0;
    }
    this.#audited += 1;
    return this.#audited <= AUDITED_A_SECOND;
  }

  #ringOf({ type }: SystemEvent): EventRing<SystemEvent> {
    if (type === 'channel-status') return this.#channels;
    return type === 'tool-invocation' ? this.#tools : this.#noted;
  }

  #countToolCall({ toolName = '', duration = 0, success }: SystemEvent): void {
    this.toolCounts.add(toolName);
    this.#count(COUNT.toolCalls);
    this.#count(COUNT.toolMs, duration);
    if (success === false) this.#count(COUNT.toolErrors);
  }

  #countModelCall({ attempt = 1, tokens = 0, costUsd = 0 }: SystemEvent): void {
    this.#count(COUNT.modelCalls);
    if (attempt > 1) this.#count(COUNT.modelRetries);
    this.#count(COUNT.modelTokens, tokens);
    this.#count(COUNT.modelCostUsd, costUsd);
  }

  /**
   * Streams events from now on, or stops: every one, or so many a second. @default every one
   */
  inspect(isOn: boolean, eventsPerSecond?: number): void {
    this.#streamed = isOn ? (this.#streamed ?? []) : undefined;
    this.#sample = eventsPerSecond === undefined ? undefined : new StreamSample(eventsPerSecond);
    this.#listen();
  }

  /** Posts what is held back to be posted in one go. */
  postHeld(): void {
    this.#postChosen();
    this.#postStreamed();
  }

  /** Tells `watcher` every event as it happens: a simulation sees a thread so, also one that dies. */
  watch(watcher: EventWatcher): void {
    this.#watcher = watcher;
    this.#listen();
  }

  /** Somebody wants to see events. */
  get isTold(): boolean {
    return this.#streamed !== undefined || this.#watcher !== undefined;
  }

  /** Calls `listener` when somebody begins to want events, or nobody does any more, until the returned function is called. */
  onInspected(listener: () => void): () => void {
    this.#inspectedListeners.add(listener);
    return () => void this.#inspectedListeners.delete(listener);
  }

  /** Somebody wants to see every event. */
  get isWhollyTold(): boolean {
    return this.isTold && this.#sample === undefined;
  }

  /** Those that watch the machines of this agent; without one, of the thread itself. */
  stepsOf(agentId?: string): AgentSteps {
    return new AgentSteps(this, agentId);
  }

  /** Streams a step of a machine; it is not kept. */
  stepped(agentId: string | undefined, { facts, ...step }: WatchedStep): void {
    const event: SystemEvent = {
      type: 'machine-step',
      timestamp: this.#deps.clock.now(),
      place: this.#deps.place.id,
      ...(agentId === undefined ? {} : { agentId }),
      ...step,
      ...(facts === undefined ? {} : { facts: bounded(facts) }),
    };
    if (this.isTold && this.#isSampled(event)) this.#stream(event);
  }

  #listen(): void {
    for (const listener of this.#inspectedListeners) listener();
    if (!this.isTold) return this.traffic.listen(undefined);
    this.traffic.listen({
      takes: (mail, atMs) => this.#takes(mail, atMs),
      hear: (traffic) => this.#streamTraffic(traffic),
    });
  }

  /** Whether what is told of this mail is streamed. */
  #takes({ correlationId, id }: Mail, atMs: number): boolean {
    const sample = this.#sample;
    return sample === undefined || sample.takes(correlationId ?? id, atMs) || this.#leaveOut(sample);
  }

  #isSampled(event: SystemEvent): boolean {
    const sample = this.#sample;
    const isRare = event.type === 'dead-letter' || event.type === 'error';
    return sample === undefined || sample.takesEvent(event, isRare) || this.#leaveOut(sample);
  }

  /** Something was left out: that is told soon. */
  #leaveOut(sample: StreamSample): false {
    if (sample.leftOut === 1) this.#streamSoon();
    return false;
  }

  /**
   * Posts what was chosen of much, and how much that was, in one go: it does not count with a commit. Each post costs as much as
   * several events.
   */
  #streamSoon(): void {
    if (this.#isStreamDue) return;
    this.#isStreamDue = true;
    this.#deps.clock.setTimer(STREAM_MS, () => {
      this.#isStreamDue = false;
      this.#postChosen();
    });
  }

  #postChosen(): void {
    const { clock, place, outlet } = this.#deps;
    const events = this.#chosen;
    this.#chosen = [];
    const count = this.#sample?.takeLeftOut() ?? 0;
    if (count > 0) events.push({ type: 'events-left-out', timestamp: clock.now(), place: place.id, count });
    if (this.#streamed !== undefined && events.length > 0) outlet.tell({ t: 'events', events });
  }

  #streamTraffic(traffic: Traffic): void {
    for (const event of trafficEvents(traffic, this.#deps.place)) this.#stream(event, traffic.mail);
  }

  #stream(event: SystemEvent, mail?: Mail): void {
    this.#watcher?.(event, mail);
    const events = this.#streamed;
    if (events === undefined) return;
    if (this.#sample !== undefined) {
      this.#chosen.push(event);
      this.#streamSoon();
    } else if (events.push(event) === 1) this.#deps.outlet.planFlush();
    else if (events.length >= EVENTS_A_POST) this.#postStreamed();
  }

  /** Posts streamed events that count whatever becomes of the handling. */
  #postFacts(): void {
    const fact = this.#streamed?.pop();
    if (fact === undefined) return;
    this.#postStreamed();
    this.#deps.outlet.tell({ t: 'events', events: [fact] });
  }

  /** Posts streamed events that count with the next commit. */
  #postStreamed(): void {
    if (this.#streamed === undefined || this.#streamed.length === 0) return;
    const events = this.#streamed;
    this.#streamed = [];
    this.#isBegun = true;
    this.#deps.outlet.tell({ t: 'told', number: this.#told + 1, letters: [], events });
    this.#deps.outlet.planFlush();
  }

  #about(mail: Mail) {
    return { timestamp: this.#deps.clock.now(), ...aboutMail(mail) };
  }

  #count(at: number, by = 1): void {
    const { counters } = this.#deps;
    counters[at] = (counters[at] as number) + by;
  }
}

const thrownOf = (stack: string | undefined): { readonly stack?: string } =>
  stack === undefined ? {} : { stack };

/** As many facts as anybody reads, and as long. */
const bounded = (facts: MachineFacts): MachineFacts =>
  Object.fromEntries(
    Object.entries(facts)
      .slice(0, MAX_FACTS)
      .map(([name, value]) => [name, typeof value === 'string' ? value.slice(0, MAX_FACT_CHARS) : value]),
  );
