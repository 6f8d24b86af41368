import { bindMethods } from '../../runtime/protocol/bind-methods.ts';
import type { A2AEnvelope } from '../../runtime/protocol/envelope.ts';
import { requireFunction, requireText } from '../../runtime/protocol/parse-options.ts';
import type { ActorRow } from '../../runtime/protocol/roster.ts';
import type { Taint } from '../../runtime/protocol/taint.ts';
import type { Behalf } from '../../runtime/public.ts';
import type { AgentPort } from '../agent-port/agent-port.ts';
import { askingOver, EnvelopeTransport } from './assignment-transport.ts';
import { OwnedSwarms } from './owned-swarms.ts';
import type { SwarmOutcome } from './swarm-outcome.ts';
import { type Negotiator, reachOver, type SwarmReach } from './swarm-reach.ts';
import type { SwarmWork } from './swarm-record.ts';
import { faultIn, type SwarmAnswer, type SwarmRequest, SwarmRequests } from './swarm-requests.ts';
import { isOver, type SwarmSession, taintOfSession } from './swarm-session.ts';
import { InMemorySwarmStore, type SwarmStore } from './swarm-store.ts';
import {
  type CreateSwarmOptions,
  noSuchSwarm,
  notYours,
  ownerOf,
  type ReportOptions,
  type Swarms,
} from './swarms.ts';

/**
 * - `port`       of the agent in whose name it acts: `routerPort(...)`.
 * - `negotiator` of the same agent: makes the proposals.
 * - `store`      where swarms are kept. @default in memory
 */
export interface SwarmCoordinatorOptions {
  readonly port: AgentPort;
  readonly negotiator: Negotiator;
  readonly store?: SwarmStore;
}

/** The coordinator within a piece of work; `nth`: the next swarm that is made there, from 1. */
interface WithinWork extends Pick<SwarmCoordinatorOptions, 'port' | 'negotiator'> {
  readonly nth: () => number;
}

/** What the coordinators of one agent share, in whatever work they are used. */
interface Core {
  /** That of no work: what is said of swarms outlives what they were made in. */
  readonly port: AgentPort;
  readonly owned: OwnedSwarms;
  readonly envelopes: EnvelopeTransport;
  readonly requests: SwarmRequests;
  /** The swarms of others, as they were last shown to this agent. */
  readonly pictures: Map<string, SwarmSession>;
  readonly stopListening: () => void;
}

/** How many swarms of others are remembered. */
const PICTURES_KEPT = 64;

/**
 * Coordinates the swarms of one agent, and lets it take part in those of others (seed 1).
 *
 * Acts for that agent alone: what it sends is judged by the rules that hold for the agent, and it reports for nobody else.
 * Beyond the seed: `actor`, `resume`, `within`, `receive`, `suspend`, `close`, and what `Swarms` adds.
 */
export class SwarmCoordinator implements Swarms {
  readonly #port: AgentPort;
  readonly #core: Core;
  readonly #reach: SwarmReach;
  readonly #nthOfWork: () => number;

  static {
    bindMethods(SwarmCoordinator.prototype);
  }

  /** `core` and `nth` are for `within`. */
  constructor(options: SwarmCoordinatorOptions, core?: Core, nth: () => number = () => 1) {
    const { port, negotiator } = options;
    this.#port = port;
    this.#core = core ?? this.#coreOf(options);
    this.#nthOfWork = nth;
    const transport = askingOver(port) ?? this.#core.envelopes;
    this.#reach = reachOver({ port: this.#core.port, negotiator, transport });
  }

  /** The coordinator as an actor, with the swarms that are not over as its children. */
  get actor(): ActorRow {
    return this.#core.owned.actor;
  }

  /** The coordinator of the same agent, whose swarms belong to the work of this port. */
  within({ port, negotiator, nth }: WithinWork): SwarmCoordinator {
    return new SwarmCoordinator({ port, negotiator }, this.#core, nth);
  }

  /** Goes on with the swarms of this agent that the store has and this coordinator does not know. */
  resume(): Promise<void> {
    return this.#core.owned.resume(this.#reach);
  }

  /** Takes an envelope that has come for the agent; false when it is none of a swarm. */
  receive(envelope: A2AEnvelope): boolean {
    const { requests, envelopes } = this.#core;
    return requests.receive(envelope) || envelopes.receive(envelope) || this.#receiveLate(envelope);
  }

  /** The system stops: what goes on stays as it is kept, for the next process. */
  suspend(): void {
    this.#core.owned.suspend();
  }

  #coreOf({ port, store = new InMemorySwarmStore() }: SwarmCoordinatorOptions): Core {
    const { agentId, seams } = port;
    const owned = new OwnedSwarms({
      ownerId: agentId,
      seams,
      store,
      taint: () => port.taint,
      steps: port.steps,
    });
    const requests = new SwarmRequests(port, (callerId, request, taint) => {
      if (taint !== undefined) owned.tainted(request, taint);
      return owned.answer(callerId, request);
    });
    const stopListening = port.listen((envelope) => this.receive(envelope));
    return {
      port,
      owned,
      requests,
      envelopes: new EnvelopeTransport(port),
      pictures: new Map(),
      stopListening,
    };
  }

  /** An answer to a request that handed out an assignment, long after anybody listened to it. */
  #receiveLate(envelope: A2AEnvelope): boolean {
    const { type, sender, payload } = envelope;
    const { owned } = this.#core;
    if (type === 'response') return owned.reportLate(sender, envelope, { result: payload });
    if (type === 'error')
      return owned.reportLate(sender, envelope, { error: faultIn(payload), isSaid: true });
    return false;
  }

  async createSwarm(
    taskDescription: string,
    requiredCapabilities: readonly string[],
    options: CreateSwarmOptions = {},
  ): Promise<SwarmSession> {
    await this.#port.open();
    const task = { taskDescription, requiredCapabilities, work: this.#nextWork(), behalf: this.#behalf };
    const { owned } = this.#core;
    return this.#read(await owned.create(this.#reach, task, withWork(options, this.#port.work)));
  }

  async joinSwarm(swarmId: string, agentId: string): Promise<void> {
    await this.#forAgent(agentId, { kind: 'swarm.join', swarmId });
  }

  async leaveSwarm(swarmId: string, agentId: string, reason?: string): Promise<void> {
    const why = reason === undefined ? {} : { reason };
    await this.#forAgent(agentId, { kind: 'swarm.leave', swarmId, ...why });
  }

  async completeSubTask(
    swarmId: string,
    subTaskId: string,
    result: unknown,
    { epoch }: ReportOptions = {},
  ): Promise<void> {
    const meant = epoch === undefined ? {} : { epoch };
    await this.#ask({ kind: 'swarm.complete', swarmId, subTaskId, result, ...meant });
  }

  async failSubTask(
    swarmId: string,
    subTaskId: string,
    error: string,
    { epoch }: ReportOptions = {},
  ): Promise<void> {
    const meant = epoch === undefined ? {} : { epoch };
    await this.#ask({ kind: 'swarm.fail', swarmId, subTaskId, error, ...meant });
  }

  async cancelSwarm(swarmId: string, reason = 'its owner cancelled it'): Promise<void> {
    this.#requireOwn(swarmId);
    this.#core.owned.cancel(swarmId, reason);
  }

  getSwarm(swarmId: string): SwarmSession | undefined {
    const session = this.#core.owned.get(swarmId) ?? this.#core.pictures.get(swarmId);
    return session && this.#read(session);
  }

  listActiveSwarms(): SwarmSession[] {
    const known = [...this.#core.owned.list(), ...this.#core.pictures.values()];
    return known
      .filter(({ status }) => !isOver(status))
      .sort((one, other) => one.createdAt - other.createdAt)
      .map((session) => this.#read(session));
  }

  listSwarms(): SwarmSession[] {
    const known = this.#core.owned.list().sort((one, other) => one.createdAt - other.createdAt);
    return known.map((session) => this.#read(session));
  }

  async readSwarm(swarmId: string): Promise<SwarmSession> {
    const answer = await this.#ask({ kind: 'swarm.read', swarmId });
    if (answer.kind !== 'swarm.picture') throw noSuchSwarm(swarmId);
    return this.#read(answer.session);
  }

  async outcome(swarmId: string): Promise<SwarmOutcome> {
    this.#requireOwn(swarmId);
    const outcome = await this.#core.owned.outcome(swarmId);
    if (outcome.taint !== undefined) this.#absorb(outcome.taint);
    return outcome;
  }

  onChange(listener: (session: SwarmSession) => void): () => void {
    requireFunction('listener', listener);
    return this.#core.owned.onChange((session) => listener(this.#read(session)));
  }

  /** Lets go of everything. What was going on can be resumed from the store. */
  close(): void {
    const { stopListening, owned, requests } = this.#core;
    stopListening();
    owned.close();
    requests.close();
  }

  /** Whoever reads what is kept has what is in it, whenever that was written. */
  #read(session: SwarmSession): SwarmSession {
    const taint = taintOfSession(session);
    if (taint !== undefined) this.#absorb(taint);
    return session;
  }

  /** What an agent does for itself, or the owner for it. */
  async #forAgent(agentId: string, request: SwarmRequest): Promise<void> {
    const { owned } = this.#core;
    if (agentId === this.#port.agentId) await this.#ask(request);
    else {
      const session = owned.get(request.swarmId);
      if (session === undefined) throw notYours(request.swarmId, this.#port.agentId, agentId);
      owned.answer(agentId, request, true);
    }
  }

  /** Asks the coordinator of the swarm, which may be this one. */
  async #ask(request: SwarmRequest): Promise<SwarmAnswer> {
    const { swarmId } = request;
    const { owned, requests, pictures } = this.#core;
    requireText('swarmId', swarmId);
    const ownerId = ownerOf(swarmId);
    if (ownerId === undefined) throw noSuchSwarm(swarmId);
    if (ownerId === this.#port.agentId) return owned.answer(ownerId, request);
    await this.#port.open();
    const answer = await requests.ask(ownerId, request, this.#behalf);
    if (answer.kind === 'swarm.picture') remember(pictures, answer.session);
    return answer;
  }

  #requireOwn(swarmId: string): void {
    if (this.#core.owned.get(swarmId) !== undefined) return;
    const { agentId } = this.#port;
    const ownerId = ownerOf(swarmId);
    if (ownerId === undefined || ownerId === agentId) throw noSuchSwarm(swarmId);
    throw notYours(swarmId, agentId);
  }

  /** What a swarm that is made now belongs to, so that the next attempt of that finds it; only a durable owner has such. */
  #nextWork(): SwarmWork | undefined {
    const { work, records } = this.#port;
    if (work === undefined || records === undefined) return undefined;
    const { envelopeId, deadlineAtMs, isTriedAgain } = work;
    return {
      nth: this.#nthOfWork(),
      isTriedAgain,
      ...(envelopeId === undefined ? {} : { envelopeId }),
      ...(deadlineAtMs === undefined ? {} : { deadlineAtMs }),
    };
  }

  /** On whose behalf the work of the port is done; without any, nobody's. */
  get #behalf(): Behalf | undefined {
    return this.#port.work && this.#port.behalf();
  }

  #absorb(taint: Taint): void {
    if (this.#port.work !== undefined) this.#port.absorbTaint(taint);
  }
}

function remember(pictures: Map<string, SwarmSession>, session: SwarmSession): void {
  pictures.delete(session.id);
  pictures.set(session.id, session);
  const [oldest] = pictures.keys();
  if (oldest !== undefined && pictures.size > PICTURES_KEPT) pictures.delete(oldest);
}

/** The options, with what is taken over from the work in hand. */
function withWork(options: CreateSwarmOptions, work: AgentPort['work']): CreateSwarmOptions {
  if (work === undefined) return options;
  const { signal, correlationId } = work;
  const signals = [signal, options.signal].filter((one) => one !== undefined);
  const [first, other] = signals;
  return {
    ...(correlationId === undefined ? {} : { correlationId }),
    ...options,
    ...(first !== undefined && { signal: other === undefined ? first : AbortSignal.any(signals) }),
  };
}
