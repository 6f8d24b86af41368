import type { A2AEnvelope } from '../../runtime/protocol/envelope.ts';
import type { Seams } from '../../runtime/protocol/seams.ts';
import { callListener } from '../negotiator/call-listener.ts';
import { LoadBook } from './load-book.ts';
import { newRecord } from './new-record.ts';
import type { Report } from './swarm-assignments.ts';
import { noSuchSwarm, notInSwarm } from './swarm-errors.ts';
import { swarmIdOf } from './swarm-id.ts';
import { isOver } from './swarm-life.ts';
import { outcomeOf, type SwarmOutcome } from './swarm-outcome.ts';
import type { SwarmReach } from './swarm-reach.ts';
import { memberIn, type SwarmRecord } from './swarm-record.ts';
import type { SwarmAnswer, SwarmRequest } from './swarm-request.ts';
import { SwarmRun } from './swarm-run.ts';
import type { SwarmSession } from './swarm-session.ts';
import type { SwarmStore } from './swarm-store.ts';
import type { CreateSwarmOptions } from './swarms.ts';

export interface OwnedSwarmsDeps {
  readonly ownerId: string;
  readonly seams: Pick<Seams, 'clock' | 'newId'>;
  readonly store: SwarmStore;
}

/** A swarm, and who waits for its end. */
interface Entry {
  readonly run: SwarmRun;
  readonly waiting: ((outcome: SwarmOutcome) => void)[];
}

/** How many swarms are remembered that are over. */
const KEPT = 256;

/** The swarms that one agent owns, and what may be asked of them by whom. */
export class OwnedSwarms {
  readonly #deps: OwnedSwarmsDeps;
  readonly #entries = new Map<string, Entry>();
  readonly #loads = new LoadBook();
  readonly #listeners = new Set<{ readonly hear: (session: SwarmSession) => void }>();

  constructor(deps: OwnedSwarmsDeps) {
    this.#deps = deps;
  }

  /** Makes a swarm whose agents are reached by `reach`. */
  async create(
    reach: SwarmReach,
    task: { readonly taskDescription: string; readonly requiredCapabilities: readonly string[] },
    options: CreateSwarmOptions,
  ): Promise<SwarmSession> {
    const { ownerId, seams } = this.#deps;
    const id = swarmIdOf(ownerId, seams.newId());
    const { signal } = options;
    const record = await newRecord({ id, ownerId, nowMs: seams.clock.now(), ...task, options });
    const run = this.#enter(record, reach);
    run.begin();
    if (signal?.aborted === true) run.cancel('its signal was aborted');
    else signal?.addEventListener('abort', () => run.cancel('its signal was aborted'), { once: true });
    return run.session;
  }

  /** Goes on with what the store has and this coordinator does not. */
  async resume(reach: SwarmReach): Promise<void> {
    const { store, ownerId } = this.#deps;
    for (const record of await store.list()) {
      if (record.session.ownerId !== ownerId || this.#entries.has(record.session.id)) continue;
      this.#enter(record, reach).resume();
    }
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
        run.assignments.report(agentId, request.subTaskId, { result: request.result }, request.epoch);
        return { kind: 'swarm.done' };
      case 'swarm.fail': {
        const error = { code: 'REFUSED' as const, message: request.error };
        run.assignments.report(agentId, request.subTaskId, { error }, request.epoch);
        return { kind: 'swarm.done' };
      }
    }
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
      .some(({ run }) => run.assignments.reportIn(agentId, askedIn, report));
  }

  cancel(swarmId: string, reason: string): void {
    this.#entry(swarmId).run.cancel(reason);
  }

  outcome(swarmId: string): Promise<SwarmOutcome> {
    const { run, waiting } = this.#entry(swarmId);
    if (isOver(run.session.status)) return Promise.resolve(outcomeOf(run.record));
    return new Promise((resolve) => waiting.push(resolve));
  }

  onChange(hear: (session: SwarmSession) => void): () => void {
    const listener = { hear };
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }

  /** Lets go of everything; the store keeps what was going on. */
  close(): void {
    for (const { run } of this.#entries.values()) run.close();
    this.#entries.clear();
  }

  #entry(swarmId: string): Entry {
    const entry = this.#entries.get(swarmId);
    if (entry === undefined) throw noSuchSwarm(swarmId);
    return entry;
  }

  #enter(record: SwarmRecord, reach: SwarmReach): SwarmRun {
    const { seams, store } = this.#deps;
    const waiting: Entry['waiting'] = [];
    const run: SwarmRun = new SwarmRun(
      {
        clock: seams.clock,
        reach,
        loads: this.#loads,
        save: (changed) => store.put(changed),
        onChange: (session) => {
          for (const { hear } of this.#listeners) queueMicrotask(() => callListener(hear, session));
          if (isOver(session.status)) for (const resolve of waiting.splice(0)) resolve(outcomeOf(run.record));
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
    for (const [id, { run }] of over.slice(0, Math.max(0, over.length - KEPT + 1))) {
      run.close();
      this.#entries.delete(id);
    }
  }

  #requireInsight({ record, session }: SwarmRun, callerId: string): void {
    if (callerId === session.ownerId) return;
    const hasLeft = memberIn(record, callerId)?.standing === 'left';
    if (hasLeft || !session.participants.includes(callerId)) throw notInSwarm(session, callerId);
  }
}
