import { bindMethods } from '../../runtime/protocol/bind-methods.ts';
import { requireFunction, requireText } from '../../runtime/protocol/parse-options.ts';
import type { Taint } from '../../runtime/protocol/taint.ts';
import type { Behalf } from '../../runtime/public.ts';
import { CoordinatorCore, type SwarmCoordinatorOptions } from './coordinator-core.ts';
import { type Negotiator, Recruiter } from './recruiter.ts';
import { noSuchSwarm, notYours } from './swarms.ts';
import { ownerOf } from './swarms.ts';
import type { SwarmMedium } from './swarm-medium.ts';
import type { SwarmNotice } from './swarm-notifier.ts';
import type { SwarmOutcome } from './swarm-outcome.ts';
import { isStop } from './system-stop.ts';
import type { Hands, NoticeOrigin, SwarmReach } from './swarm-reach.ts';
import type { SwarmWork } from './swarm-record.ts';
import type { SwarmAnswer, SwarmRequest } from './swarm-requests.ts';
import { isOver, type SwarmSession, taintOfSession } from './swarm-session.ts';
import type { CreateSwarmOptions, ReportOptions, Swarms } from './swarms.ts';

/**
 * How one face of a coordinator reaches agents.
 *
 * - `hands`      hand over what is assigned to them. @default as envelopes of their own
 * - `negotiator` makes the proposals. @default that of the agent
 * - `inherited`  what swarms take over from the work in which they are made.
 * - `behalf`     on whose behalf the work is done in which it is used. @default nobody's
 * - `takeIn`     hears where what is read came from outside, before it is.
 */
export interface FaceOptions {
  readonly hands?: Hands;
  readonly negotiator?: Negotiator;
  readonly inherited?: () => Inherited;
  readonly behalf?: () => Behalf;
  readonly takeIn?: (taint: Taint) => void;
}

/** What a swarm takes over from the work in which it is made. */
interface Inherited {
  readonly signal: AbortSignal;
  readonly correlationId: string | undefined;
  readonly work: SwarmWork | undefined;
}

/**
 * Coordinates the swarms of one agent, and lets it take part in those of others (seed 1).
 *
 * Acts for that agent alone: what it sends is judged by the rules that hold for the agent, and it reports for nobody else.
 * Beyond the seed: `resume`, `close`, and what `Swarms` adds.
 */
export class SwarmCoordinator implements Swarms {
  readonly #core: CoordinatorCore;
  readonly #reach: SwarmReach;
  readonly #inherited: FaceOptions['inherited'];
  readonly #behalf: FaceOptions['behalf'];
  readonly #takeIn: FaceOptions['takeIn'];

  static {
    bindMethods(SwarmCoordinator.prototype);
  }

  /** Over its own medium and negotiator; or another face of a coordinator that is there. */
  constructor(
    options: SwarmCoordinatorOptions | CoordinatorCore,
    { hands, negotiator, inherited, behalf, takeIn }: FaceOptions = {},
  ) {
    const core = options instanceof CoordinatorCore ? options : new CoordinatorCore(options);
    this.#core = core;
    this.#inherited = inherited;
    this.#behalf = behalf;
    this.#takeIn = takeIn;
    this.#reach = reachOf(core, {
      negotiator: negotiator ?? core.negotiator,
      hands: hands ?? core.envelopes,
    });
  }

  /** Goes on with the swarms of this agent that the store has and this coordinator does not know. */
  async resume(): Promise<void> {
    const { medium, owned } = this.#core;
    if (medium.open !== undefined) await medium.open();
    await owned.resume(this.#reach);
  }

  async createSwarm(
    taskDescription: string,
    requiredCapabilities: readonly string[],
    options: CreateSwarmOptions = {},
  ): Promise<SwarmSession> {
    await this.#core.medium.open?.();
    const inherited = this.#inherited?.();
    const behalf = this.#behalf?.();
    const task = { taskDescription, requiredCapabilities, work: inherited?.work, behalf };
    return this.#read(await this.#core.owned.create(this.#reach, task, within(options, inherited)));
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
    if (outcome.taint !== undefined) this.#takeIn?.(outcome.taint);
    return outcome;
  }

  onChange(listener: (session: SwarmSession) => void): () => void {
    requireFunction('listener', listener);
    return this.#core.owned.onChange((session) => listener(this.#read(session)));
  }

  /** Lets go of everything. What was going on can be resumed from the store. */
  close(): void {
    this.#core.close();
  }

  /** Whoever reads what is kept has what is in it, whenever that was written. */
  #read(session: SwarmSession): SwarmSession {
    const taint = taintOfSession(session);
    if (taint !== undefined) this.#takeIn?.(taint);
    return session;
  }

  /** What an agent does for itself, or the owner for it. */
  async #forAgent(agentId: string, request: SwarmRequest): Promise<void> {
    const { medium, owned } = this.#core;
    if (agentId === medium.agentId) await this.#ask(request);
    else {
      const session = owned.get(request.swarmId);
      if (session === undefined) throw notYours(request.swarmId, medium.agentId, agentId);
      owned.answer(agentId, request, true);
    }
  }

  /** Asks the coordinator of the swarm, which may be this one. */
  async #ask(request: SwarmRequest): Promise<SwarmAnswer> {
    const { swarmId } = request;
    const { medium, owned, post } = this.#core;
    requireText('swarmId', swarmId);
    const ownerId = ownerOf(swarmId);
    if (ownerId === undefined) throw noSuchSwarm(swarmId);
    if (ownerId === medium.agentId) return owned.answer(ownerId, request);
    await medium.open?.();
    const answer = await post.ask(ownerId, request, this.#behalf?.());
    if (answer.kind === 'swarm.picture') this.#core.shown(answer.session);
    return answer;
  }

  #requireOwn(swarmId: string): void {
    const { medium, owned } = this.#core;
    if (owned.get(swarmId) !== undefined) return;
    const ownerId = ownerOf(swarmId);
    if (ownerId === undefined || ownerId === medium.agentId) throw noSuchSwarm(swarmId);
    throw notYours(swarmId, medium.agentId);
  }
}

/** How the agents of swarms are reached in the name of a coordinator's agent. */
function reachOf(
  { medium }: CoordinatorCore,
  { negotiator, hands }: { readonly negotiator: Negotiator; readonly hands: Hands },
): SwarmReach {
  const recruiter = new Recruiter(negotiator, medium);
  return {
    isExplicit: hands.isExplicit,
    isLasting: hands.isLasting,
    isKeptFor: (agentId) => hands.isKeptFor(agentId),
    whoOffers: (capabilityId) => medium.whoOffers(capabilityId),
    loadOf: (agentId) => medium.loadOf?.(agentId) ?? 0,
    propose: async (proposal) => {
      const answer = await recruiter.propose(proposal);
      const isStopped = answer.standing === 'declined' && isStop({ code: answer.reason });
      return isStopped && hands.isLasting ? { standing: 'unasked' } : answer;
    },
    dismiss: (member) => recruiter.dismiss(member),
    withdraw: (proposal) => recruiter.withdraw(proposal),
    hand: (order, reports) => hands.hand(order, reports),
    handAgain: (order, envelopeId, reports) => hands.handAgain(order, envelopeId, reports),
    note: (event) => medium.note?.(event),
    notify: (recipient, about, notice) => {
      if (recipient !== medium.agentId || medium.isTold) void notify(medium, recipient, about, notice);
    },
  };
}

/** The options, with what is taken over from the work in hand. */
function within(
  options: CreateSwarmOptions,
  inherited: Pick<Inherited, 'signal' | 'correlationId'> | undefined,
): CreateSwarmOptions {
  if (inherited === undefined) return options;
  const { signal, correlationId } = inherited;
  const own = options.signal;
  return {
    ...(correlationId === undefined ? {} : { correlationId }),
    ...options,
    signal: own === undefined ? signal : AbortSignal.any([signal, own]),
  };
}

/** Tells an agent; whoever watches learns when that was not possible. */
async function notify(
  medium: SwarmMedium,
  recipient: string,
  about: NoticeOrigin,
  payload: SwarmNotice,
): Promise<void> {
  const justification = `${recipient} takes part in the swarm ${payload.swarmId}`;
  const letter = { recipient, type: 'notification' as const, payload, ...about, justification };
  const { delivered, error } = await medium.send(letter);
  if (delivered) return;
  const reason = `${recipient} was not told "${payload.kind}": ${error}`;
  medium.note?.({ correlationId: about.correlationId, reason, isGood: false, agentId: recipient });
}
