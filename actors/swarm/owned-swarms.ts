import { MachineHost } from '../../runtime/machine/machine-host.ts';
import type { StepWatch } from '../../runtime/protocol/step-watch.ts';
import type { A2AEnvelope } from '../../runtime/protocol/envelope.ts';
import { type OrreryError, systemStopped } from '../../runtime/protocol/errors.ts';
import type { ActorRow } from '../../runtime/protocol/roster.ts';
import type { Clock, Seams } from '../../runtime/protocol/seams.ts';
import type { Taint } from '../../runtime/protocol/taint.ts';
import type { Behalf } from '../../runtime/public.ts';
import { callListener } from '../negotiator/proposal-event.ts';
import { coordinatorMachine } from './coordinator.machine.ts';
import { AgentLoads, type Report } from './live-assignments.ts';
import { LiveSwarm } from './live-swarm.ts';
import { outcomeOf, type SwarmOutcome } from './swarm-outcome.ts';
import type { SwarmReach } from './swarm-reach.ts';
import { memberIn, type SwarmRecord, type SwarmWork } from './swarm-record.ts';
import { newRecord } from './swarm-plan.ts';
import type { SwarmAnswer, SwarmRequest } from './swarm-requests.ts';
import { isOver, type SwarmSession } from './swarm-session.ts';
import { MAX_STORED_SWARMS, type SwarmStore } from './swarm-store.ts';
import { type CreateSwarmOptions, noSuchSwarm, notInSwarm, swarmIdOf } from './swarms.ts';

export interface OwnedSwarmsDeps {
  readonly ownerId: string;
  readonly seams: Pick<Seams, 'clock' | 'newId'>;
  readonly store: SwarmStore;
  /** Where what the owner has in it came from outside. */
  readonly taint?: () => Taint | undefined;
  /** Of the coordinator's machine. */
  readonly steps?: StepWatch | undefined;
}

interface Waiting {
  readonly resolve: (outcome: SwarmOutcome) => void;
  readonly reject: (error: OrreryError) => void;
}

/** A swarm, and who waits for its end. */
interface Entry {
  readonly run: LiveSwarm;
  readonly waiting: Waiting[];
}

/**
 * `work` is that of the owner in which the swarm is made, if it belongs to that and has to outlive a death over it; `behalf`
 * says on whose behalf it is made.
 */
export interface NewSwarmTask {
  readonly taskDescription: string;
  readonly requiredCapabilities: readonly string[];
  readonly work?: SwarmWork | undefined;
  readonly behalf?: Behalf | undefined;
}

/** The swarms that one agent owns, and what may be asked of them by whom. */
export class OwnedSwarms {
  readonly #deps: OwnedSwarmsDeps;
  readonly #entries = new Map<string, Entry>();
  readonly #loads = new AgentLoads();
  readonly #listeners = new Set<{ readonly hear: (session: SwarmSession) => void }>();
  readonly #orphans: Orphans;
  readonly #machine: MachineHost<typeof coordinatorMachine>;

  constructor(deps: OwnedSwarmsDeps) {
    this.#deps = deps;
    this.#orphans = new Orphans(deps.seams.clock);
    this.#machine = new MachineHost(coordinatorMachine, {
      watch: deps.steps,
      actions: { leaveSwarms: () => this.#leaveAll(), closeSwarms: () => this.#closeAll() },
    });
  }

  /**
   * Makes a swarm whose agents are reached by `reach`; or gives the one that a former attempt of the same work made, and
   * goes on with it.
   */
  async create(reach: SwarmReach, task: NewSwarmTask, options: CreateSwarmOptions): Promise<SwarmSession> {
    const former = this.#claim(task, reach);
    const run = former ?? (await this.#begin(reach, task, options));
    const { signal } = options;
    if (signal?.aborted === true) run.end('its signal was aborted');
    else signal?.addEventListener('abort', () => run.end('its signal was aborted'), { once: true });
    return run.session;
  }

  async #begin(reach: SwarmReach, task: NewSwarmTask, options: CreateSwarmOptions): Promise<LiveSwarm> {
    const { ownerId, seams } = this.#deps;
    const id = swarmIdOf(ownerId, seams.newId());
    const record = await newRecord({ id, ownerId, nowMs: seams.clock.now(), ...task, options });
    const run = this.#enter(record, reach);
    try {
      run.begin();
    } catch (error) {
      // The store cannot keep it.
      run.close();
      this.#entries.delete(id);
      throw error;
    }
    return run;
  }

  /**
   * Goes on with what the store has and this coordinator does not: at once, unless the store takes its time. What belongs
   * to work that was cut off waits for the next attempt of it, or ends if there is none.
   */
  async resume(reach: SwarmReach): Promise<void> {
    const { store, ownerId } = this.#deps;
    const listed = store.list();
    const known = new Set(this.#entries.keys());
    const records = listed instanceof Promise ? await listed : listed;
    const left = records.filter(({ session }) => session.ownerId === ownerId && !known.has(session.id));
    for (const record of left) {
      const run = this.#enter(record, reach);
      const end = (): void => run.end('the work that it was made in is over');
      if (isOver(record.session.status)) continue;
      if (record.work === undefined) run.resume();
      else if (record.work.isTriedAgain) this.#orphans.add(record, end);
      else end();
    }
  }

  /** The swarm that a former attempt of this work made in its place. One that was cancelled with it is made anew. */
  #claim({ work, taskDescription }: NewSwarmTask, reach: SwarmReach): LiveSwarm | undefined {
    if (work?.envelopeId === undefined) return undefined;
    const former = [...this.#entries.values()].findLast(({ run: { record } }) => {
      const isSameWork = record.work?.envelopeId === work.envelopeId && record.work?.nth === work.nth;
      return isSameWork && record.session.taskDescription === taskDescription;
    });
    if (former === undefined) return undefined;
    const { run, waiting } = former;
    const { id, status, error } = run.session;
    if (isOver(status)) return error?.code === 'CANCELLED' ? undefined : run;
    if (!this.#orphans.claim(id)) {
      run.cancel('the attempt that made it is over');
      return undefined;
    }
    run.close();
    const next = this.#enter(run.record, reach, waiting);
    next.resume();
    return next;
  }

  get(swarmId: string): SwarmSession | undefined {
    return this.#entries.get(swarmId)?.run.session;
  }

  list(): SwarmSession[] {
    return [...this.#entries.values()].map(({ run }) => run.session);
  }

  /**
   * Does for the agent what it asks; or what the owner asks for it, who need not be able to hear. Throws REFUSED, or TAKEN
   * for a report that is late.
   */
  answer(agentId: string, request: SwarmRequest, isByOwner = false): SwarmAnswer {
    const { run } = this.#entry(request.swarmId);
    switch (request.kind) {
      case 'swarm.read':
        this.#requireInsight(run, agentId);
        return { kind: 'swarm.picture', session: run.session };
      case 'swarm.join':
        run.join(agentId, { listens: !isByOwner });
        return { kind: 'swarm.picture', session: run.session };
      case 'swarm.leave':
        run.leave(agentId, request.reason ?? 'it left');
        return { kind: 'swarm.done' };
      case 'swarm.complete':
        this.#deps.store.requireKeepable?.(request.result);
        run.subTasks.report(agentId, request.subTaskId, { result: request.result }, request.epoch);
        return { kind: 'swarm.done' };
      case 'swarm.fail': {
        const error = { code: 'REFUSED' as const, message: request.error };
        run.subTasks.report(agentId, request.subTaskId, { error }, request.epoch);
        return { kind: 'swarm.done' };
      }
    }
  }

  /** What a request says of a sub-task came from outside. Throws REFUSED when there is no such swarm. */
  tainted(request: SwarmRequest, taint: Taint): void {
    if ('subTaskId' in request) this.#entry(request.swarmId).run.subTasks.tainted(request.subTaskId, taint);
  }

  /** A report that came in an envelope nobody waits for any more: it answers the request that handed an assignment over. */
  reportLate(
    agentId: string,
    envelope: Pick<A2AEnvelope, 'correlationId' | 'metadata'>,
    report: Report,
  ): boolean {
    const { correlationId, metadata } = envelope;
    const askedIn = metadata?.inReplyTo;
    if (askedIn === undefined) return false;
    return [...this.#entries.values()]
      .filter(({ run }) => run.session.correlationId === correlationId)
      .some(({ run }) => run.subTasks.reportIn(agentId, askedIn, report));
  }

  cancel(swarmId: string, reason: string): void {
    this.#entry(swarmId).run.cancel(reason);
  }

  outcome(swarmId: string): Promise<SwarmOutcome> {
    const { run, waiting } = this.#entry(swarmId);
    if (isOver(run.session.status)) return Promise.resolve(outcomeOf(run.record));
    if (this.#machine.matches('left') && run.record.work === undefined) return Promise.reject(goesOn(run));
    return new Promise((resolve, reject) => waiting.push({ resolve, reject }));
  }

  onChange(hear: (session: SwarmSession) => void): () => void {
    const listener = { hear };
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }

  /** The coordinator as an actor, with the swarms that are not over. */
  get actor(): ActorRow {
    const going = [...this.#entries.values()].filter(({ run }) => !isOver(run.session.status));
    return { ...this.#machine.row(), children: going.map(({ run }) => run.actor) };
  }

  /** Lets go of everything; the store keeps what was going on. */
  close(): void {
    this.#machine.send({ type: 'coordinator.closes' });
  }

  /** The system stops: what goes on stays as it is kept, for the next process. Who waits for the end of it learns that. */
  suspend(): void {
    this.#machine.send({ type: 'system.stops' });
  }

  #closeAll(): void {
    this.#orphans.close();
    for (const { run } of this.#entries.values()) run.close();
    this.#entries.clear();
  }

  #leaveAll(): void {
    this.#orphans.close();
    for (const { run, waiting } of this.#entries.values()) {
      if (isOver(run.session.status)) continue;
      run.close();
      // Who waits in a handler is stopped as it is: were it told, what it handles would be over.
      if (run.record.work !== undefined) continue;
      for (const { reject } of waiting.splice(0)) reject(goesOn(run));
    }
  }

  #entry(swarmId: string): Entry {
    const entry = this.#entries.get(swarmId);
    if (entry === undefined) throw noSuchSwarm(swarmId);
    return entry;
  }

  #enter(record: SwarmRecord, reach: SwarmReach, waiting: Entry['waiting'] = []): LiveSwarm {
    const { seams, store, taint } = this.#deps;
    const run: LiveSwarm = new LiveSwarm(
      {
        clock: seams.clock,
        reach,
        loads: this.#loads,
        ...(taint && { taint }),
        save: (changed) => store.put(changed),
        owner: {
          changed: (session) => {
            for (const { hear } of this.#listeners) queueMicrotask(() => callListener(hear, session));
            if (isOver(session.status))
              for (const { resolve } of waiting.splice(0)) resolve(outcomeOf(run.record));
          },
          suspended: () => this.suspend(),
        },
      },
      record,
    );
    this.#forget();
    this.#entries.set(record.session.id, { run, waiting });
    return run;
  }

  /** Makes room: the oldest of those that are over, and that nobody reports to any more. */
  #forget(): void {
    const over = [...this.#entries].filter(([, { run }]) => isOver(run.session.status));
    for (const [id, { run }] of over.slice(0, Math.max(0, over.length - MAX_STORED_SWARMS + 1))) {
      run.close();
      this.#entries.delete(id);
    }
  }

  #requireInsight({ record, session }: LiveSwarm, callerId: string): void {
    if (callerId === session.ownerId) return;
    const hasLeft = memberIn(record, callerId)?.standing === 'left';
    if (hasLeft || !session.participants.includes(callerId)) throw notInSwarm(session, callerId);
  }
}

const goesOn = ({ session }: LiveSwarm): OrreryError =>
  systemStopped(`the swarm ${session.id} goes on in the next process`);

/** How long the next attempt of the work is waited for in which a swarm was made, if that has no deadline. */
const MAX_WAIT_MS = 600_000;

/**
 * Swarms whose owner was cut off, by the death of its thread or process, in the work in which it had made them, and which
 * wait for the next attempt of that.
 */
class Orphans {
  readonly #clock: Pick<Clock, 'now' | 'setTimer'>;
  readonly #cancelTimers = new Map<string, () => void>();

  constructor(clock: Pick<Clock, 'now' | 'setTimer'>) {
    this.#clock = clock;
  }

  /** Calls `onUnclaimed` when nobody has claimed it in time. */
  add({ session, work }: SwarmRecord, onUnclaimed: () => void): void {
    const leftMs = (work?.deadlineAtMs ?? Number.POSITIVE_INFINITY) - this.#clock.now();
    const cancelTimer = this.#clock.setTimer(Math.max(0, Math.min(leftMs, MAX_WAIT_MS)), () => {
      this.#cancelTimers.delete(session.id);
      onUnclaimed();
    });
    this.#cancelTimers.set(session.id, cancelTimer);
  }

  /** True when it waits; then it does not any more. */
  claim(swarmId: string): boolean {
    this.#cancelTimers.get(swarmId)?.();
    return this.#cancelTimers.delete(swarmId);
  }

  close(): void {
    for (const swarmId of [...this.#cancelTimers.keys()]) this.claim(swarmId);
  }
}
