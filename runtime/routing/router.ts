import { A2AObservability } from '../observe/observability.ts';
import { bindMethods } from '../protocol/bind-methods.ts';
import { type A2AEnvelope, BROADCAST, parseEnvelope } from '../protocol/envelope.ts';
import { agentNotFound, errorToData, invalidOptions } from '../protocol/errors.ts';
import { parseOptions } from '../protocol/parse-options.ts';
import { type JudgePolicy, type Party, type Verdict, verdictOf } from '../protocol/policy.ts';
import { type RoutingConfig, SandboxRoutingConfig, TierRoutingConfig } from '../protocol/routing-config.ts';
import type { Refusal, RoutingResult } from '../protocol/routing-result.ts';
import type { Seams } from '../protocol/seams.ts';
import { systemSeams } from '../protocol/system-seams.ts';
import type { AgentRegistry } from './agent-registry.ts';
import type { FoundCard } from './discovery.ts';
import { Grants } from './grants.ts';
import { type Judged, LocalDelivery, type ReceiveHandler } from './local-delivery.ts';
import { deliveredResult, MailJudge, type MailManner, refusedResult, Unrouted } from './mail-judge.ts';
import { queryOf, RemoteLookup, type RemoteQuery, type RemoteRegistry } from './remote-lookup.ts';
import { type Ends, type RefusalKind, RoutingLog } from './routing-log.ts';
import type { AgentRow } from '../protocol/agent-row.ts';
import { fromEnvelope, type Mail } from '../mailbox/mail.ts';
import { EventRing } from '../observe/event-ring.ts';
import { READINESS } from './agent-status-memory.ts';

/**
 * - `policies`          the rules, such as `defaultPolicies()`.
 * - `remoteRegistry`    is asked for agents and capabilities that are unknown here. @default none
 * - `carryRemote`       takes an envelope to a remote agent that has no handler here; rejects when it could not.
 * - `broadcastToSender` whether a broadcast reaches its sender too. @default true
 * - `lookupTimeoutMs`   how long a remote lookup may take. @default 2_000
 * - `threadCapacity`    envelopes that `thread` remembers. @default 10_000
 */
export interface A2ARouterOptions {
  readonly registry: AgentRegistry;
  readonly policies: readonly JudgePolicy[];
  readonly seams?: Pick<Seams, 'clock'>;
  readonly observability?: A2AObservability;
  readonly remoteRegistry?: RemoteRegistry;
  readonly carryRemote?: (envelope: A2AEnvelope, agentId: string) => Promise<void>;
  readonly broadcastToSender?: boolean;
  readonly lookupTimeoutMs?: number;
  readonly threadCapacity?: number;
}

/** `expectsReply`: refuse the envelope if the sandbox would not let the answer back. @default false */
export interface SendOptions {
  readonly expectsReply?: boolean;
}

const TOLD: MailManner = { isBroadcast: false, expectsReply: false };
const TOLD_ALL: MailManner = { isBroadcast: true, expectsReply: false };
const ASKED: MailManner = { isBroadcast: false, expectsReply: true };

/** One envelope that is being sent: its sender, and how long routing took. */
interface Send extends Judged {
  readonly sender: Party;
  readonly latencyMs: number;
}

/**
 * Routes envelopes to the handlers of registered agents under the policies (seed 1), without a system. It judges as a system
 * does, but has no threads and no mailboxes: `send` tells what the handlers did.
 *
 * Tier and sandbox of a sender are those of its registered card, whatever the envelope says. The sender's id is not checked,
 * `system/...` included: check it before you pass on an envelope of somebody else.
 */
export class A2ARouter {
  readonly observability: A2AObservability;
  readonly #registry: AgentRegistry;
  readonly #clock: Seams['clock'];
  readonly #log: RoutingLog;
  readonly #judge: MailJudge;
  readonly #delivery: LocalDelivery;
  readonly #policies: readonly JudgePolicy[];
  readonly #broadcastToSender: boolean;
  readonly #threads: ThreadIndex;
  readonly #lookup: RemoteLookup | undefined;

  static {
    bindMethods(A2ARouter.prototype);
  }

  constructor(options: A2ARouterOptions) {
    const { registry, policies, seams = systemSeams(), broadcastToSender = true } = options;
    const { clock } = seams;
    this.observability = options.observability ?? new A2AObservability();
    this.#registry = registry;
    this.#clock = clock;
    this.#log = new RoutingLog(this.observability, clock);
    this.#policies = policies;
    this.#broadcastToSender = broadcastToSender;
    this.#judge = new MailJudge({
      table: registry.table,
      policies,
      grants: new Grants(clock),
      agentStatus: { readinessOf: () => READINESS.live },
      clock,
      reachable: (offering) => this.#reachableOf(offering),
    });
    this.#delivery = new LocalDelivery({
      table: registry.table,
      judge: this.#judge,
      carryRemote: options.carryRemote,
      onReceiverFailed: (agentId, mail, reason) => this.#receiverFailed(agentId, mail, reason),
    });
    this.#threads = new ThreadIndex(options.threadCapacity);
    this.#lookup = this.#lookupOver(options);
  }

  /**
   * Routes and delivers an envelope. Never rejects: the result says what was refused, or why it is no envelope.
   *
   * Fails with INVALID_ENVELOPE, SCHEMA_VERSION_MISMATCH, AGENT_NOT_FOUND, CAPABILITY_NOT_FOUND, DELIVERY_FAILED, or
   * what a policy says.
   */
  async send(envelope: A2AEnvelope, { expectsReply = false }: SendOptions = {}): Promise<RoutingResult> {
    const startedMs = this.#clock.monotonicMs();
    let parsed: A2AEnvelope;
    try {
      parsed = parseEnvelope(envelope);
    } catch (error) {
      return this.#unreadable(envelope, error, startedMs);
    }
    // An envelope that a handler sends must not be handled inside that handler's call.
    await undefined;
    const sender = this.#judge.registeredParty(parsed.sender);
    if (sender === undefined) return this.#unregistered(parsed, startedMs);
    const mail = fromEnvelope(parsed);
    const judged = { mail, envelope: stampedBy(sender, parsed), sender };
    if (isForEverybody(mail)) return this.#broadcast(judged, startedMs);
    const manner = expectsReply ? ASKED : TOLD;
    const query = queryOf(mail);
    // Nothing overtakes envelopes that wait for the same lookup already.
    const underWay = this.#lookup?.underWay(query);
    if (underWay !== undefined) await underWay;
    let route = this.#route(sender, mail, manner);
    if (this.#isLookedUp(route, query) && underWay === undefined && this.#lookup !== undefined) {
      await this.#lookup.find(query);
      route = this.#route(sender, mail, manner);
    }
    const send = { ...judged, latencyMs: this.#clock.monotonicMs() - startedMs };
    if (!(route instanceof Unrouted)) return this.#deliver(send, route);
    const { row, verdict } = route;
    return this.#refused(send, row ?? mail.recipient, verdict, row === undefined ? 'missing' : 'rule');
  }

  /**
   * Why the policies would refuse the envelope; undefined if they would not. Sends nothing and raises no event.
   *
   * Fails with INVALID_ENVELOPE or SCHEMA_VERSION_MISMATCH on what is no envelope.
   */
  judge(envelope: A2AEnvelope, { expectsReply = false }: SendOptions = {}): Verdict | undefined {
    const mail = fromEnvelope(parseEnvelope(envelope));
    const sender = this.#judge.registeredParty(mail.sender);
    if (sender === undefined) return verdictOf(agentNotFound(mail.sender));
    if (isForEverybody(mail)) return undefined;
    const route = this.#route(sender, mail, expectsReply ? ASKED : TOLD);
    return route instanceof Unrouted ? route.verdict : undefined;
  }

  /** Ends the grant of `holder` to answer `peer`'s envelope. */
  endGrant(envelopeId: string, holder: string, peer: string): void {
    this.#judge.endGrant(envelopeId, holder, peer);
  }

  /** Calls `handler` with every envelope for the agent, until the returned function is called. */
  onReceive(agentId: string, handler: ReceiveHandler): () => void {
    return this.#delivery.onReceive(agentId, handler);
  }

  /** Judges by another tier table from now on. Fails with INVALID_OPTIONS. */
  setTierConfig(config: TierRoutingConfig): void {
    this.#reconfigure({ tiers: parseOptions(TierRoutingConfig, config, 'tierConfig') });
  }

  /** Judges by other sandbox lists from now on; agents discover each other by the same. Fails with INVALID_OPTIONS. */
  setSandboxConfig(config: SandboxRoutingConfig): void {
    const sandbox = parseOptions(SandboxRoutingConfig, config, 'sandboxConfig');
    this.#reconfigure({ sandbox });
    this.#registry.setSandboxConfig(sandbox);
  }

  /** The delivered envelopes of one conversation in timestamp order, as far back as they are remembered. */
  thread(correlationId: string): readonly A2AEnvelope[] {
    return this.#threads.find(correlationId);
  }

  #route(sender: Party, mail: Mail, manner: MailManner): AgentRow | Unrouted {
    return this.#judge.route(sender, mail, manner, this.#clock.now());
  }

  /** Whether other nodes are asked: nobody is found here, or only agents that nobody takes mail for. */
  #isLookedUp(route: AgentRow | Unrouted, { kind }: RemoteQuery): boolean {
    if (route instanceof Unrouted) return route.row === undefined;
    return kind === 'capability' && !this.#delivery.reaches(route);
  }

  /** The agents that somebody takes mail for; all if there are none. */
  #reachableOf(offering: readonly AgentRow[]): readonly AgentRow[] {
    const reachable = offering.filter((row) => this.#delivery.reaches(row));
    return reachable.length > 0 ? reachable : offering;
  }

  async #deliver(send: Send, row: AgentRow): Promise<RoutingResult> {
    const { mail, sender, latencyMs } = send;
    const delivery = this.#delivery.deliver(row, send);
    const failure = delivery instanceof Promise ? await delivery : delivery;
    if (failure !== undefined)
      return this.#refused(send, row, { code: 'DELIVERY_FAILED', reason: failure }, 'missing');
    const result = deliveredResult(row, latencyMs);
    this.#sent(send);
    this.#log.decided(mail, result, { source: sender, target: row.party });
    this.#log.received(mail, row.id);
    return result;
  }

  async #broadcast(judged: Omit<Send, 'latencyMs'>, startedMs: number): Promise<RoutingResult> {
    const { mail, sender } = judged;
    const { permitted, outOfReach } = this.#partEverybody(sender, mail);
    const latencyMs = this.#clock.monotonicMs() - startedMs;
    const failures = await Promise.all(permitted.map((row) => this.#delivery.deliver(row, judged)));
    const accepted = permitted.filter((_row, index) => failures[index] === undefined);
    const failed = permitted.flatMap((row, index): Refusal[] => {
      const reason = failures[index];
      return reason === undefined ? [] : [{ agentId: row.id, code: 'DELIVERY_FAILED', reason }];
    });
    const result: RoutingResult = {
      delivered: failed.length === 0,
      path: 'broadcast',
      targetAgentId: BROADCAST,
      latencyMs,
      recipients: accepted.map(({ id }) => id),
      refused: [...outOfReach, ...failed],
      ...(failed.length === 0 ? {} : partialFailure(failed.length, permitted.length)),
    };
    if (result.delivered || accepted.length > 0) this.#sent(judged);
    this.#log.decided(mail, result, { source: sender });
    for (const row of accepted) {
      this.#log.reached(mail, sender, row.party);
      this.#log.received(mail, row.id);
    }
    for (const refusal of outOfReach) this.#log.refused(mail, refusal, this.#endsOf(sender, refusal), 'rule');
    for (const refusal of failed) this.#log.refused(mail, refusal, this.#endsOf(sender, refusal), 'missing');
    return result;
  }

  /** The agents that may get a broadcast, and the refusals of the others. */
  #partEverybody(sender: Party, mail: Mail) {
    const nowMs = this.#clock.now();
    const permitted: AgentRow[] = [];
    const outOfReach: Refusal[] = [];
    for (const row of this.#registry.table.rows()) {
      if (row.id === sender.id && !this.#broadcastToSender) continue;
      const verdict = this.#judge.judge(sender, row, mail, TOLD_ALL, nowMs);
      if (verdict === undefined) permitted.push(row);
      else outOfReach.push({ agentId: row.id, ...verdict });
    }
    return { permitted, outOfReach };
  }

  /** `to` is the agent that it was for, or the recipient's id if no agent has it. */
  #refused(
    { mail, sender, latencyMs }: Pick<Send, 'mail' | 'latencyMs'> & { readonly sender?: Party },
    to: AgentRow | string,
    verdict: Verdict,
    kind: RefusalKind,
  ): RoutingResult {
    const result = refusedResult(to, verdict, { latencyMs });
    const ends = { source: sender, target: typeof to === 'string' ? undefined : to.party };
    this.#log.decided(mail, result, ends);
    this.#log.refused(mail, { agentId: result.targetAgentId, ...verdict }, ends, kind);
    return result;
  }

  #unregistered(envelope: A2AEnvelope, startedMs: number): RoutingResult {
    const mail = fromEnvelope(envelope);
    const { code, reason } = verdictOf(agentNotFound(mail.sender));
    const verdict = { code, reason: `The sender is unknown: ${reason}` };
    const latencyMs = this.#clock.monotonicMs() - startedMs;
    return this.#refused({ mail, latencyMs }, mail.recipient, verdict, 'rule');
  }

  #unreadable(envelope: unknown, error: unknown, startedMs: number): RoutingResult {
    const data = errorToData(error, 'INVALID_ENVELOPE');
    const { recipient } = (envelope ?? {}) as { recipient?: unknown };
    const targetAgentId = typeof recipient === 'string' ? recipient : '';
    const latencyMs = this.#clock.monotonicMs() - startedMs;
    this.#log.failed(data, targetAgentId);
    return refusedResult(targetAgentId, { code: data.code, reason: data.message }, { latencyMs });
  }

  #sent({ mail, envelope }: Judged): void {
    this.#threads.record(envelope);
    this.#log.sent(mail);
  }

  #endsOf(source: Party, { agentId }: Refusal): Ends {
    return { source, target: this.#registry.table.get(agentId)?.party };
  }

  #receiverFailed(agentId: string, mail: Mail, reason: string): void {
    const ends = {
      source: this.#judge.registeredParty(mail.sender),
      target: this.#judge.registeredParty(agentId),
    };
    this.#log.refused(mail, { agentId, code: 'DELIVERY_FAILED', reason }, ends, 'missing');
  }

  #reconfigure(config: RoutingConfig): void {
    if (this.#judge.configure(config)) return;
    const names = this.#policies.map(({ name }) => name).join(', ');
    throw invalidOptions('policies', names, `a policy that takes ${Object.keys(config).join(', ')}`);
  }

  #lookupOver({ registry, remoteRegistry: remote, lookupTimeoutMs: timeoutMs = 2_000 }: A2ARouterOptions) {
    if (remote === undefined) return undefined;
    const onProblem = ({ id }: RemoteQuery, error: unknown): void => {
      const { code, message } = errorToData(error, 'DELIVERY_FAILED');
      this.#log.failed({ code, message: `The remote lookup of "${id}" failed: ${message}` }, id);
    };
    const takeIn = ({ card, grant }: FoundCard): boolean => registry.mergeRemote(card, grant);
    return new RemoteLookup({ remote, takeIn, clock: this.#clock, timeoutMs, onProblem });
  }
}

/** Whether it is a broadcast. A capability may be called `*`, too: mail for one is no broadcast. */
const isForEverybody = ({ recipient, extras }: Mail): boolean =>
  recipient === BROADCAST && extras?.routingHint !== 'capability';

const partialFailure = (failed: number, permitted: number) => ({
  errorCode: 'DELIVERY_FAILED' as const,
  error: `${failed} of ${permitted} permitted recipients did not accept; see refused`,
});

/** The envelope as its recipients get it: frozen, with the sender's registered tier and sandbox. */
function stampedBy({ tier, sandboxId }: Party, envelope: A2AEnvelope): A2AEnvelope {
  if (envelope.metadata === undefined) return Object.freeze(envelope);
  const { sandboxId: _claimed, ...rest } = envelope.metadata;
  const metadata = Object.freeze({ ...rest, tier, ...(sandboxId === undefined ? {} : { sandboxId }) });
  return Object.freeze({ ...envelope, metadata });
}

/** The last envelopes, by conversation. */
export class ThreadIndex {
  readonly #ring: EventRing<A2AEnvelope>;

  /** @param capacity envelopes kept, of all conversations together */
  constructor(capacity = 10_000) {
    this.#ring = new EventRing(capacity);
  }

  record(envelope: A2AEnvelope): void {
    if (envelope.correlationId !== undefined) this.#ring.push(envelope);
  }

  /** The envelopes of one conversation in timestamp order; those of one millisecond in the order they were sent. */
  find(correlationId: string): readonly A2AEnvelope[] {
    return this.#ring
      .toArray()
      .filter((envelope) => envelope.correlationId === correlationId)
      .sort((one, other) => one.timestamp - other.timestamp);
  }
}
