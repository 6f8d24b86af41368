import type { z } from 'zod';
import type { SystemEvent } from '../observe/system-event.ts';
import { invalidOptions } from '../protocol/errors.ts';
import { Chance } from './chance.ts';
import type { FaultCounts, Faults, PlannedFault } from './faults.ts';
import type { Scheduler } from './scheduler.ts';
import type { VirtualThread } from './virtual-thread.ts';

/** What a message between two threads takes when nothing is wrong, milliseconds. */
const CARRY_MS = [0.005, 0.08] as const;
/** The two ends of a thread's name that say that agents live in it. */
const OF_AGENTS = /^(worker|solo)-/;

export interface FaultInjectorDeps {
  readonly seed: number;
  readonly scheduler: () => Scheduler;
  readonly faults: z.output<typeof Faults>;
  /** Says whether a thread has all its agents: one that dies over loading an agent breaks it for good. */
  readonly hasLoaded: (thread: VirtualThread) => boolean;
  readonly note: (event: Omit<SystemEvent, 'timestamp' | 'type'>) => void;
}

/** Has go wrong what is asked for, by chance or at its time, and counts it. */
export class FaultInjector {
  readonly counts: FaultCounts = { crash: 0, freeze: 0, slow: 0, delay: 0, partition: 0, handler: 0 };
  readonly #deps: FaultInjectorDeps;
  readonly #chances: Record<keyof FaultCounts | 'carry', Chance>;
  readonly #partitions: { readonly places: readonly [string, string]; readonly untilMs: number }[] = [];
  /** Faults happen while the team is up. */
  #isArmed = false;

  constructor(deps: FaultInjectorDeps) {
    this.#deps = deps;
    const chanceOf = (purpose: string): Chance => new Chance(deps.seed, `fault ${purpose}`);
    this.#chances = {
      crash: chanceOf('crash'),
      freeze: chanceOf('freeze'),
      slow: chanceOf('slow'),
      delay: chanceOf('delay'),
      partition: chanceOf('partition'),
      handler: chanceOf('handler'),
      carry: chanceOf('carry'),
    };
  }

  /** From now on things go wrong; `planner` is the thread on which those with a time are set. */
  arm(planner: VirtualThread): void {
    this.#isArmed = true;
    const { faults, scheduler } = this.#deps;
    for (const planned of faults.planned) {
      const atMs = scheduler().nowMs + planned.atMs;
      scheduler().schedule(planner, atMs, () => this.#isArmed && this.cause(planned), true);
    }
  }

  disarm(): void {
    this.#isArmed = false;
    this.#partitions.length = 0;
  }

  /** A thread has become a place. */
  started(thread: VirtualThread): void {
    const { slow } = this.#deps.faults;
    if (slow === undefined || !isTarget(thread) || !this.#chances.slow.isTrue(slow.probability)) return;
    this.#slow(thread, this.#chances.slow.between(...slow.factor));
  }

  beforeStep(thread: VirtualThread): void {
    if (!this.#isArmed || !isTarget(thread) || !this.#deps.hasLoaded(thread)) return;
    const { crash, freeze, partition } = this.#deps.faults;
    if (crash !== undefined && this.#happens('crash', crash)) this.#crash(thread);
    else if (freeze !== undefined && this.#happens('freeze', freeze))
      this.#freeze(thread, this.#chances.freeze.between(...freeze.ms));
    else if (partition !== undefined && this.#happens('partition', partition)) {
      const other = this.#chances.partition.pick(this.#others(thread));
      const ms = this.#chances.partition.between(...partition.ms);
      if (other !== undefined) this.#part([thread.placeId as string, other], ms);
    }
  }

  /** How long a message takes from one thread to another. */
  delayMs(from: VirtualThread, to: VirtualThread | undefined): number {
    const { delay } = this.#deps.faults;
    const ms = this.#chances.carry.between(...CARRY_MS);
    if (!this.#isArmed || from.placeId === undefined || to?.placeId === undefined) return ms;
    const parted = this.#partedUntil(from.placeId, to.placeId) - from.localMs;
    if (delay === undefined || !this.#chances.delay.isTrue(delay.probability)) return Math.max(ms, parted);
    this.counts.delay += 1;
    return Math.max(ms + this.#chances.delay.between(...delay.ms), parted);
  }

  /** Whether the handler that is about to be called fails, and when. */
  handlerFault(agentId: string): 'before' | 'after' | undefined {
    const { handler } = this.#deps.faults;
    if (!this.#isArmed || handler === undefined || handler.agents?.includes(agentId) === false)
      return undefined;
    if (!this.#happens('handler', handler)) return undefined;
    this.counts.handler += 1;
    const when = this.#chances.handler.isTrue(0.5) ? 'before' : 'after';
    this.#deps.note({ agentId, reason: `its handler throws, ${when} its work` });
    return when;
  }

  /** Has this happen now. Throws INVALID_OPTIONS for a place that is none. */
  cause(planned: Omit<PlannedFault, 'atMs'> | PlannedFault): void {
    const fault = planned as PlannedFault;
    if (fault.fault === 'partition') {
      for (const place of fault.places) this.#threadOf(place);
      this.#part(fault.places, fault.ms);
      return;
    }
    const thread = this.#threadOf(fault.place);
    if (thread === undefined) return;
    if (fault.fault === 'crash') this.#crash(thread);
    else if (fault.fault === 'freeze') this.#freeze(thread, fault.ms);
    else this.#slow(thread, fault.factor);
  }

  #happens(
    kind: 'crash' | 'freeze' | 'partition' | 'handler',
    { probability, most }: { readonly probability: number; readonly most: number },
  ): boolean {
    return this.counts[kind] < most && this.#chances[kind].isTrue(probability);
  }

  #crash(thread: VirtualThread): void {
    this.counts.crash += 1;
    this.#note(thread, 'its thread ends');
    this.#deps.scheduler().end(thread);
  }

  #freeze(thread: VirtualThread, ms: number): void {
    this.counts.freeze += 1;
    this.#note(thread, 'its thread stands still');
    thread.frozenUntilMs = Math.max(thread.frozenUntilMs, this.#deps.scheduler().nowMs + ms);
  }

  #slow(thread: VirtualThread, factor: number): void {
    this.counts.slow += 1;
    this.#note(thread, 'its thread is slow');
    thread.slowness = factor;
  }

  #part(places: readonly [string, string], ms: number): void {
    this.counts.partition += 1;
    this.#deps.note({ place: places[0], reason: `nothing gets to ${places[1]} or back` });
    this.#partitions.push({ places, untilMs: this.#deps.scheduler().nowMs + ms });
  }

  #partedUntil(from: string, to: string): number {
    let untilMs = 0;
    for (const { places, untilMs: one } of this.#partitions)
      if (places.includes(from) && places.includes(to)) untilMs = Math.max(untilMs, one);
    return untilMs;
  }

  #note({ placeId }: VirtualThread, reason: string): void {
    this.#deps.note({ place: placeId as string, reason });
  }

  #others({ placeId }: VirtualThread): readonly string[] {
    const places = this.#deps.scheduler().threads.filter((one) => !one.isOver && one.placeId !== undefined);
    return places.map((one) => one.placeId as string).filter((id) => id !== placeId);
  }

  /** The thread that is a place now; undefined while it is between two. */
  #threadOf(place: string): VirtualThread | undefined {
    const threads = this.#deps.scheduler().threads.filter(({ placeId }) => placeId === place);
    if (threads.length === 0)
      throw invalidOptions('place', place, 'the name of a worker thread, as worker-1');
    return threads.find(({ isOver }) => !isOver);
  }
}

const isTarget = ({ placeId }: VirtualThread): boolean => placeId !== undefined && OF_AGENTS.test(placeId);
