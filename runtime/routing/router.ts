import { A2AObservability } from '../observe/observability.ts';
import { bindMethods } from '../protocol/bind-methods.ts';
import { type A2AEnvelope, BROADCAST, parseEnvelope } from '../protocol/envelope.ts';
import { agentNotFound, errorToData, invalidOptions, type OrreryError } from '../protocol/errors.ts';
import { parseOptions } from '../protocol/parse-options.ts';
import type { JudgePolicy, Party, Verdict } from '../protocol/policy.ts';
import { type RoutingConfig, SandboxRoutingConfig, TierRoutingConfig } from '../protocol/routing-config.ts';
import type { Refusal, RoutingResult } from '../protocol/routing-result.ts';
import type { Seams } from '../protocol/seams.ts';
import { systemSeams } from '../protocol/system-seams.ts';
import type { AgentRegistry } from './agent-registry.ts';
import type { FoundCard } from './discovery.ts';
import { Grants } from './grants.ts';
import { LocalDelivery, type ReceiveHandler } from './local-delivery.ts';
import { RemoteLookup, type RemoteQuery, type RemoteRegistry } from './remote-lookup.ts';
import { isForCapability, type Route, RouteDecider } from './route-decider.ts';
import { type Ends, RoutingLog } from './routing-log.ts';
import { type AgentRow, routingPathTo } from '../protocol/agent-row.ts';
import { EventRing } from '../observe/event-ring.ts';

/**
 * - `policies`          the rules, such as `defaultPolicies()`.
 * - `remoteRegistry`    asked for agents and capabilities that are unknown here. @default nobody
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

/** `expectsReply`: refused at once where the sandbox would not let the answer back. @default false */
export interface SendOptions {
  readonly expectsReply?: boolean;
}

/**
 * Takes envelopes to the handlers of registered agents under the rules (seed 1): the standalone face of routing.
 *
 * Tier and sandbox of a sender are those of its registered card, whatever the envelope says. The sender's id is taken as
 * it is, `system/...` included: whoever passes on what others sent must have made sure of it.
 */
export class A2ARouter {
  readonly observability: A2AObservability;
  readonly #registry: AgentRegistry;
  readonly #clock: Seams['clock'];
  readonly #log: RoutingLog;
  readonly #decider: RouteDecider;
  readonly #delivery: LocalDelivery;
  readonly #grants: Grants;
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
    const grants = new Grants(clock);
    this.#grants = grants;
    this.#decider = new RouteDecider(registry.table, policies, clock, {
      grants,
      broadcastToSender,
      isReachable: (row) => this.#delivery.reaches(row),
    });
    this.#delivery = new LocalDelivery({
      table: registry.table,
      grants,
      carryRemote: options.carryRemote,
      onReceiverFailed: (agentId, envelope, reason) => this.#receiverFailed(agentId, envelope, reason),
    });
    this.#threads = new ThreadIndex(options.threadCapacity);
    this.#lookup = this.#lookupOver(options);
  }

  /**
   * Routes and delivers. Never rejects: what was refused, and what is no envelope, is in the result.
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
    // What a handler sends must not be handled inside that handler's call.
    await undefined;
    const sender = this.#decider.partyOf(parsed.sender);
    if (sender === undefined) return this.#unregistered(parsed, startedMs);
    const stamped = stampedBy(sender, parsed);
    // Nothing overtakes what waits for a lookup of the same already.
    const underWay = this.#lookup?.underWay(queryOf(stamped));
    if (underWay !== undefined) await underWay;
    let route = this.#decider.decide(sender, stamped, expectsReply);
    if (this.#isLookedUp(route, stamped) && underWay === undefined && this.#lookup !== undefined) {
      await this.#lookup.find(queryOf(stamped));
      route = this.#decider.decide(sender, stamped, expectsReply);
    }
    return this.#follow(route, stamped, sender, this.#clock.monotonicMs() - startedMs);
  }

  /**
   * Why the rules would refuse the envelope; undefined when they would let it pass. Sends nothing and is no event.
   *
   * Fails with INVALID_ENVELOPE or SCHEMA_VERSION_MISMATCH on what is no envelope.
   */
  judge(envelope: A2AEnvelope, { expectsReply = false }: SendOptions = {}): Verdict | undefined {
    const parsed = parseEnvelope(envelope);
    const sender = this.#decider.partyOf(parsed.sender);
    if (sender === undefined) return verdictOf(agentNotFound(parsed.sender));
    const route = this.#decider.decide(sender, stampedBy(sender, parsed), expectsReply);
    return 'verdict' in route ? route.verdict : undefined;
  }

  /** `holder` has no more to answer to `peer`'s envelope: what it was granted for that ends. */
  endGrant(envelopeId: string, holder: string, peer: string): void {
    this.#grants.end(envelopeId, holder, peer);
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

  /** Nobody is meant; or those who say that they offer it, and nobody takes anything for. */
  #isLookedUp(route: Route, envelope: A2AEnvelope): boolean {
    if (route.kind === 'unknown') return true;
    return isForCapability(envelope) && route.kind === 'one' && !this.#delivery.reaches(route.row);
  }

  #follow(
    route: Route,
    envelope: A2AEnvelope,
    sender: Party,
    latencyMs: number,
  ): Promise<RoutingResult> | RoutingResult {
    switch (route.kind) {
      case 'one':
        return this.#sendToOne(route.row, envelope, sender, latencyMs);
      case 'everybody':
        return this.#broadcast(route, envelope, sender, latencyMs);
      case 'refused':
        return this.#refused(envelope, refusalOf(route.row, route.verdict), {
          ends: { source: sender, target: route.row.party },
          path: routingPathTo(route.row),
          latencyMs,
        });
      case 'unknown':
        return this.#refused(
          envelope,
          { agentId: envelope.recipient, ...route.verdict },
          {
            ends: { source: sender },
            path: 'local',
            latencyMs,
            isMissing: true,
          },
        );
    }
  }

  async #sendToOne(
    row: AgentRow,
    envelope: A2AEnvelope,
    sender: Party,
    latencyMs: number,
  ): Promise<RoutingResult> {
    const ends = { source: sender, target: row.party };
    const path = routingPathTo(row);
    const delivery = this.#delivery.deliver(row, envelope);
    const failure = delivery instanceof Promise ? await delivery : delivery;
    if (failure !== undefined) {
      const refusal = { agentId: row.id, code: 'DELIVERY_FAILED' as const, reason: failure };
      return this.#refused(envelope, refusal, { ends, path, latencyMs, isMissing: true });
    }
    const result: RoutingResult = { delivered: true, path, targetAgentId: row.id, latencyMs };
    this.#sent(envelope);
    this.#log.decided(envelope, result, ends);
    this.#log.received(envelope, row.id);
    return result;
  }

  async #broadcast(
    { permitted, refused }: Extract<Route, { kind: 'everybody' }>,
    envelope: A2AEnvelope,
    sender: Party,
    latencyMs: number,
  ): Promise<RoutingResult> {
    const failures = await Promise.all(permitted.map((row) => this.#delivery.deliver(row, envelope)));
    const accepted = permitted.filter((_row, index) => failures[index] === undefined);
    const outOfReach = refused.map(({ row, verdict }) => refusalOf(row, verdict));
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
    if (result.delivered || accepted.length > 0) this.#sent(envelope);
    this.#log.decided(envelope, result, { source: sender });
    for (const row of accepted) {
      this.#log.reached(envelope, sender, row.party);
      this.#log.received(envelope, row.id);
    }
    for (const refusal of outOfReach)
      this.#log.refused(envelope, refusal, this.#endsOf(sender, refusal), 'rule');
    for (const refusal of failed)
      this.#log.refused(envelope, refusal, this.#endsOf(sender, refusal), 'missing');
    return result;
  }

  #refused(
    envelope: A2AEnvelope,
    refusal: Refusal,
    about: { ends: Ends; path: 'local' | 'remote'; latencyMs: number; isMissing?: boolean },
  ): RoutingResult {
    const { ends, path, latencyMs, isMissing = false } = about;
    const { agentId, code, reason, retryAfterMs } = refusal;
    const failure = {
      delivered: false,
      path,
      targetAgentId: agentId,
      latencyMs,
      error: reason,
      errorCode: code,
    };
    const result: RoutingResult = retryAfterMs === undefined ? failure : { ...failure, retryAfterMs };
    this.#log.decided(envelope, result, ends);
    this.#log.refused(envelope, refusal, ends, isMissing ? 'missing' : 'rule');
    return result;
  }

  #unregistered(envelope: A2AEnvelope, startedMs: number): RoutingResult {
    const { code, message: reason } = agentNotFound(envelope.sender);
    const latencyMs = this.#clock.monotonicMs() - startedMs;
    const refusal = { agentId: envelope.recipient, code, reason: `The sender is unknown: ${reason}` };
    return this.#refused(envelope, refusal, { ends: { source: undefined }, path: 'local', latencyMs });
  }

  #unreadable(envelope: unknown, error: unknown, startedMs: number): RoutingResult {
    const data = errorToData(error, 'INVALID_ENVELOPE');
    const { recipient } = (envelope ?? {}) as { recipient?: unknown };
    const targetAgentId = typeof recipient === 'string' ? recipient : '';
    const latencyMs = this.#clock.monotonicMs() - startedMs;
    this.#log.failed(data, targetAgentId);
    return {
      delivered: false,
      path: 'local',
      targetAgentId,
      latencyMs,
      error: data.message,
      errorCode: data.code,
    };
  }

  #sent(envelope: A2AEnvelope): void {
    this.#threads.record(envelope);
    this.#log.sent(envelope);
  }

  #endsOf(source: Party, { agentId }: Refusal): Ends {
    return { source, target: this.#registry.table.get(agentId)?.party };
  }

  #receiverFailed(agentId: string, envelope: A2AEnvelope, reason: string): void {
    const ends = { source: this.#decider.partyOf(envelope.sender), target: this.#decider.partyOf(agentId) };
    this.#log.refused(envelope, { agentId, code: 'DELIVERY_FAILED', reason }, ends, 'missing');
  }

  #reconfigure(config: RoutingConfig): void {
    const { policies } = this.#decider;
    const changed = policies.map((policy) => policy.withConfig?.(config) ?? policy);
    if (changed.every((policy, index) => policy === policies[index])) {
      const names = policies.map(({ name }) => name).join(', ');
      throw invalidOptions('policies', names, `a policy that takes ${Object.keys(config).join(', ')}`);
    }
    this.#decider.policies = changed;
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

const verdictOf = ({ code, message: reason }: OrreryError): Verdict => ({ code, reason });

const refusalOf = ({ id }: AgentRow, verdict: Verdict): Refusal => ({ agentId: id, ...verdict });

const partialFailure = (failed: number, permitted: number) => ({
  errorCode: 'DELIVERY_FAILED' as const,
  error: `${failed} of ${permitted} permitted recipients did not accept; see refused`,
});

const queryOf = (envelope: A2AEnvelope): RemoteQuery => ({
  kind: isForCapability(envelope) ? 'capability' : 'agent',
  id: envelope.recipient,
});

/** The envelope as its recipients get it: tier and sandbox are those its sender has, and nobody changes it on the way. */
function stampedBy({ tier, sandboxId }: Party, envelope: A2AEnvelope): A2AEnvelope {
  if (envelope.metadata === undefined) return Object.freeze(envelope);
  const { sandboxId: _claimed, ...rest } = envelope.metadata;
  const metadata = Object.freeze({ ...rest, tier, ...(sandboxId === undefined ? {} : { sandboxId }) });
  return Object.freeze({ ...envelope, metadata });
}

/** The last envelopes, to be found by the conversation that they belong to. */
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
