import type { z } from 'zod';
import type { SystemEvent } from '../protocol/system-event.ts';
import { invalidOptions } from '../protocol/errors.ts';
import { Chance } from './chance.ts';
import { DiskFaults, type WriteFate } from './disk-faults.ts';
import { DEFAULT_DOWN_MS, type FaultCounts, type Faults, noFaults, type PlannedFault } from './faults.ts';
import type { Scheduler } from './scheduler.ts';
import type { VirtualThread } from './virtual-thread.ts';

/** The time of a message between two threads without a fault, milliseconds. */
const CARRY_MS = [0.005, 0.08] as const;

/** Names of places with agents, which faults of places are for. */
const OF_AGENTS = /^(worker|solo)-/;

/** `hasDisk`: the process has a journal. */
export interface FaultInjectorOptions {
  readonly seed: number;
  readonly faults: z.output<typeof Faults>;
  readonly hasDisk: boolean;
}

export interface FaultInjectorDeps {
  readonly scheduler: Scheduler;
  /** All threads of all lives of the process. */
  readonly threads: () => readonly VirtualThread[];
  /** Whether a thread has loaded all its agents. A thread that dies while it loads one would mark the agent as broken. */
  readonly hasLoaded: (thread: VirtualThread) => boolean;
  /** Ends the process, and starts it again after `downMs`. */
  readonly crashHost: (how: HostCrash) => void;
  readonly note: (event: Omit<SystemEvent, 'timestamp' | 'type'>) => void;
}

/** How a process ends. It is started again after `downMs`, virtual milliseconds. */
export interface HostCrash {
  readonly powerLoss: boolean;
  readonly downMs: number;
}

/** Injects faults, by chance or at planned times, and counts them. */
export class FaultInjector {
  readonly counts: FaultCounts = noFaults();
  readonly #deps: FaultInjectorDeps;
  readonly #options: FaultInjectorOptions;
  readonly #chances: Record<keyof FaultCounts | 'carry' | 'disk', Chance>;
  readonly #disk: DiskFaults;
  readonly #partitions: { readonly places: readonly [string, string]; readonly untilMs: number }[] = [];
  /** Whether faults may occur, which is while the team is up. */
  #isArmed = false;
  /** Whether the process may end, which it may also while it starts again. */
  #mayCrashHost = false;
  #hasPlanned = false;

  constructor(deps: FaultInjectorDeps, options: FaultInjectorOptions) {
    this.#deps = deps;
    this.#options = options;
    const chanceOf = (purpose: string): Chance => new Chance(options.seed, `fault ${purpose}`);
    this.#chances = {
      crash: chanceOf('crash'),
      freeze: chanceOf('freeze'),
      slow: chanceOf('slow'),
      delay: chanceOf('delay'),
      partition: chanceOf('partition'),
      handler: chanceOf('handler'),
      hostCrash: chanceOf('hostCrash'),
      slowDisk: chanceOf('slowDisk'),
      fullDisk: chanceOf('fullDisk'),
      carry: chanceOf('carry'),
      disk: chanceOf('disk'),
    };
    this.#disk = new DiskFaults({
      chances: this.#chances,
      faults: options.faults,
      counts: this.counts,
      nowMs: () => deps.scheduler.nowMs,
      note: (reason) => deps.note({ place: 'journal', reason }),
    });
  }

  /** Begins to inject faults. Planned ones are scheduled, once, on the thread `planner`. */
  arm(planner: VirtualThread): void {
    this.#isArmed = true;
    this.#mayCrashHost = true;
    if (this.#hasPlanned) return;
    this.#hasPlanned = true;
    const { scheduler } = this.#deps;
    for (const planned of this.#options.faults.planned) {
      const atMs = scheduler.nowMs + planned.atMs;
      scheduler.schedule(planner, atMs, () => this.#isArmed && this.cause(planned), true);
    }
  }

  disarm(): void {
    this.processEnded();
    this.#mayCrashHost = false;
    this.#disk.mend();
  }

  /** Stops faults until the team is up again, except `hostCrash` and those of the disk. */
  processEnded(): void {
    this.#isArmed = false;
    this.#partitions.length = 0;
  }

  /** Decides the fate of a write of the journal. */
  write(): WriteFate {
    return this.#disk.write(this.#isArmed);
  }

  /** Called when a thread has become a place. */
  started(thread: VirtualThread): void {
    const { slow } = this.#options.faults;
    if (slow === undefined || !isTarget(thread) || !this.#chances.slow.isTrue(slow.probability)) return;
    this.#slow(thread, this.#chances.slow.between(...slow.factor));
  }

  beforeStep(thread: VirtualThread): void {
    if (this.#endsHost()) return;
    if (!this.#isArmed || !isTarget(thread) || !this.#deps.hasLoaded(thread)) return;
    const { crash, freeze, partition } = this.#options.faults;
    if (crash !== undefined && this.#happens('crash', crash)) this.#crash(thread);
    else if (freeze !== undefined && this.#happens('freeze', freeze))
      this.#freeze(thread, this.#chances.freeze.between(...freeze.ms));
    else if (partition !== undefined && this.#happens('partition', partition)) {
      const other = this.#chances.partition.pick(this.#others(thread));
      const ms = this.#chances.partition.between(...partition.ms);
      if (other !== undefined) this.#part([thread.placeId as string, other], ms);
    }
  }

  /** The time of a message from one thread to another, milliseconds. */
  delayMs(from: VirtualThread, to: VirtualThread | undefined): number {
    const { delay } = this.#options.faults;
    const ms = this.#chances.carry.between(...CARRY_MS);
    if (!this.#isArmed || from.placeId === undefined || to?.placeId === undefined) return ms;
    const parted = this.#partedUntil(from.placeId, to.placeId) - from.localMs;
    if (delay === undefined || !this.#chances.delay.isTrue(delay.probability)) return Math.max(ms, parted);
    this.counts.delay += 1;
    return Math.max(ms + this.#chances.delay.between(...delay.ms), parted);
  }

  /** Whether the next handler fails, and if so before or after its work. */
  handlerFault(agentId: string): 'before' | 'after' | undefined {
    const { handler } = this.#options.faults;
    if (!this.#isArmed || handler === undefined || handler.agents?.includes(agentId) === false)
      return undefined;
    if (!this.#happens('handler', handler)) return undefined;
    this.counts.handler += 1;
    const when = this.#chances.handler.isTrue(0.5) ? 'before' : 'after';
    this.#deps.note({ agentId, reason: `its handler throws, ${when} its work` });
    return when;
  }

  /** Causes a fault now. Throws INVALID_OPTIONS for an unknown place. */
  cause(planned: Omit<PlannedFault, 'atMs'> | PlannedFault): void {
    const fault = planned as PlannedFault;
    if (fault.fault === 'hostCrash') this.#crashHost(fault.powerLoss === true);
    else if (fault.fault === 'slowDisk' || fault.fault === 'fullDisk') this.#causeAtDisk(fault);
    else if (fault.fault === 'partition') {
      for (const place of fault.places) this.#threadOf(place);
      this.#part(fault.places, fault.ms);
    } else this.#causeAtPlace(fault);
  }

  #causeAtDisk({ fault, ms }: PlannedFault & { fault: 'slowDisk' | 'fullDisk' }): void {
    if (!this.#options.hasDisk) throw invalidOptions('fault', fault, 'one that needs no journal');
    if (fault === 'slowDisk') this.#disk.slow(ms);
    else this.#disk.fill(ms);
  }

  #causeAtPlace(fault: PlannedFault & { fault: 'crash' | 'freeze' | 'slow' }): void {
    const thread = this.#threadOf(fault.place);
    if (thread === undefined) return;
    if (fault.fault === 'crash') this.#crash(thread);
    else if (fault.fault === 'freeze') this.#freeze(thread, fault.ms);
    else this.#slow(thread, fault.factor);
  }

  #happens(
    kind: 'crash' | 'freeze' | 'partition' | 'handler' | 'hostCrash',
    { probability, most }: { readonly probability: number; readonly most: number },
  ): boolean {
    return this.counts[kind] < most && this.#chances[kind].isTrue(probability);
  }

  #endsHost(): boolean {
    const { hostCrash } = this.#options.faults;
    if (!this.#mayCrashHost || hostCrash === undefined) return false;
    if (!this.#happens('hostCrash', hostCrash)) return false;
    this.#crashHost(this.#chances.hostCrash.isTrue(hostCrash.powerLoss));
    return true;
  }

  #crashHost(powerLoss: boolean): void {
    this.counts.hostCrash += 1;
    const { note, crashHost } = this.#deps;
    const { faults } = this.#options;
    note({ reason: powerLoss ? 'the machine loses power' : 'the process ends' });
    const downMs = this.#chances.hostCrash.between(...(faults.hostCrash?.downMs ?? DEFAULT_DOWN_MS));
    crashHost({ powerLoss, downMs });
  }

  #crash(thread: VirtualThread): void {
    this.counts.crash += 1;
    this.#note(thread, 'its thread ends');
    this.#deps.scheduler.end(thread);
  }

  #freeze(thread: VirtualThread, ms: number): void {
    this.counts.freeze += 1;
    this.#note(thread, 'its thread stands still');
    thread.frozenUntilMs = Math.max(thread.frozenUntilMs, this.#deps.scheduler.nowMs + ms);
  }

  #slow(thread: VirtualThread, factor: number): void {
    this.counts.slow += 1;
    this.#note(thread, 'its thread is slow');
    thread.slowness = factor;
  }

  #part(places: readonly [string, string], ms: number): void {
    this.counts.partition += 1;
    this.#deps.note({ place: places[0], reason: `nothing gets to ${places[1]} or back` });
    this.#partitions.push({ places, untilMs: this.#deps.scheduler.nowMs + ms });
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
    const places = this.#deps.threads().filter((one) => !one.isOver && one.placeId !== undefined);
    return places.map((one) => one.placeId as string).filter((id) => id !== placeId);
  }

  /** The living thread of a place; undefined between the death of one and the next. */
  #threadOf(place: string): VirtualThread | undefined {
    const threads = this.#deps.threads().filter(({ placeId }) => placeId === place);
    if (threads.length === 0)
      throw invalidOptions('place', place, 'the name of a worker thread, as worker-1');
    return threads.find(({ isOver }) => !isOver);
  }
}

const isTarget = ({ placeId }: VirtualThread): boolean => placeId !== undefined && OF_AGENTS.test(placeId);
