import type { AgentDefinition } from '../actor/agent-definition.ts';
import type { Attendant } from '../actor/attendant.ts';
import type { Cell } from '../actor/cell.ts';
import type { Handling } from '../actor/handling.ts';
import type { Mail } from '../mailbox/mail.ts';
import type { SystemEvent } from '../observe/system-event.ts';
import { invalidOptions } from '../protocol/errors.ts';
import type { JudgePolicy } from '../protocol/policy.ts';
import type { Seams } from '../protocol/seams.ts';
import { createSystem } from '../system/create-system.ts';
import type { Conservation, DeadLetter, RosterRow, System } from '../system/system.ts';
import type { AgentSpec } from '../system/system-options.ts';
import { becomeThread, type ThreadBoot } from '../threads/boot-thread.ts';
import type { PlaceHost } from '../threads/place-host.ts';
import type { Port } from '../threads/port.ts';
import type { Spawner } from '../threads/spawner.ts';
import { Chance } from './chance.ts';
import { EscapeWatch } from './escape-watch.ts';
import { FaultInjector } from './fault-injector.ts';
import { Invariants } from './invariants.ts';
import { LedgerCheck } from './ledger-check.ts';
import type { Waits } from './running.ts';
import { ProposalCheck } from './proposal-check.ts';
import { Scheduler } from './scheduler.ts';
import type { ParsedSimulation, SimulationControls, SimulationView } from './simulate-options.ts';
import { viewOf } from './simulation-view.ts';
import { SimulatedOutside } from './simulated-outside.ts';
import { StrayRejections } from './stray-rejections.ts';
import { SuspectedEscapes } from './suspected-escapes.ts';
import { TraceRecorder } from './trace-recorder.ts';
import { VirtualThreads } from './virtual-spawner.ts';
import type { VirtualThread } from './virtual-thread.ts';
import { WatchedActor } from './watched-actor.ts';

/** Unix milliseconds at virtual time 0: 2027-01-15. */
const EPOCH_MS = 1_800_000_000_000;
/** What calling a handler takes, virtual milliseconds. */
const LEAST_WORK_MS = 0.002;
const MOST_WORK_MS = 6;
/** How long a team that is to end may take, virtual milliseconds. */
const END_MS = 60_000;

/** What the composition root gives. */
export interface SimulationDeps<Team extends System> {
  readonly policies: readonly JudgePolicy[];
  readonly workerOptions: unknown;
  readonly attendants: readonly Attendant[];
  /** What the embedder has of a system. */
  readonly embed: (system: System, seams: Seams) => Team;
  readonly specs: readonly AgentSpec[];
  readonly definitions: ReadonlyMap<string, AgentDefinition<unknown>>;
}

/** Why it was over: `run` was done and nothing moved; the time or condition of `until`; or too much of something. */
export type Ending = 'quiet' | 'until' | 'max-steps' | 'max-ms';

/** What was left when it was over. */
export interface Remains {
  readonly conservation: Conservation;
  readonly deadLetters: readonly DeadLetter[];
  readonly roster: readonly RosterRow[];
}

/** One run of a team in virtual time: the threads, the faults, and everybody who watches. */
export class Simulation<Team extends System> {
  readonly trace: TraceRecorder;
  readonly ledger = new LedgerCheck();
  readonly outside: SimulatedOutside;
  readonly faults: FaultInjector;
  readonly scheduler: Scheduler;
  readonly view: SimulationView;
  ending: Ending | undefined;
  remains: Remains | undefined;
  /** What `run` returned or threw. */
  outcome: { readonly value: unknown } | { readonly error: unknown } | undefined;
  readonly #deps: SimulationDeps<Team>;
  readonly #options: ParsedSimulation<Team>;
  readonly #threads: VirtualThreads;
  readonly #proposals = new ProposalCheck();
  readonly #invariants: Invariants;
  readonly #suspects: SuspectedEscapes;
  readonly #escapes: EscapeWatch;
  readonly #work: Chance;
  /** Where what the simulation itself does is done. */
  readonly #stage: VirtualThread;
  readonly #hosts = new Map<VirtualThread, PlaceHost>();
  #team: Team | undefined;
  #startFailure: { readonly error: unknown } | undefined;
  #isEnding = false;
  #endsAtMs = Number.POSITIVE_INFINITY;
  #uncheckedSteps = 0;

  constructor(deps: SimulationDeps<Team>, options: ParsedSimulation<Team>) {
    this.#deps = deps;
    this.#options = options;
    const { seed } = options;
    this.trace = new TraceRecorder(options.keepsTrace);
    this.scheduler = new Scheduler({
      seed,
      epochMs: EPOCH_MS,
      beforeStep: (thread) => this.faults.beforeStep(thread),
      afterCode: () => this.#escapes.afterCode(),
      afterStep: () => this.#afterStep(),
      suspect: ({ placeId }) => this.#suspects.at(placeId),
      whenQuiet: () => this.#whenQuiet(),
    });
    this.#escapes = new EscapeWatch(this.scheduler);
    this.#stage = this.scheduler.newThread('stage');
    this.faults = new FaultInjector({
      seed,
      scheduler: () => this.scheduler,
      faults: options.faults,
      hasLoaded: (thread) => this.#hasLoaded(thread),
      note: (event) => this.#note({ ...event, type: 'fault' }),
    });
    this.outside = new SimulatedOutside({
      seed,
      scheduler: this.scheduler,
      effects: options.effects,
      effectMs: options.effectMs,
      offload: options.offload,
      remembered: options.remembered,
      cpu: options.cpu,
    });
    this.#work = new Chance(seed, 'work');
    const between = new Chance(seed, 'threads');
    this.#threads = new VirtualThreads({
      scheduler: this.scheduler,
      delayMs: (from, to) => this.faults.delayMs(from, to),
      between: (least, most) => between.between(least, most),
      boot: (thread, boot, line, spawner) => this.#boot(thread, boot as ThreadBoot, line, spawner),
    });
    this.#suspects = new SuspectedEscapes();
    this.view = viewOf({
      scheduler: this.scheduler,
      ledger: this.ledger,
      faults: this.faults,
      trace: this.trace,
      outside: this.outside,
      hosts: this.#hosts,
    });
    this.#invariants = new Invariants(
      { ledger: this.ledger, proposals: this.#proposals },
      options.invariants,
      this.view,
    );
  }

  get violations(): readonly string[] {
    return this.#invariants.violations;
  }

  /** Rejects when the team could not be started, or code in it left the simulation. */
  async run(): Promise<void> {
    const strays = new StrayRejections(this.scheduler);
    const host = this.scheduler.newThread('host');
    host.placeId = 'host';
    this.scheduler.schedule(host, 0, () => void this.#embed(host));
    this.#escapes.enable();
    strays.enable();
    try {
      await this.scheduler.run();
    } finally {
      strays.disable();
      this.#escapes.disable();
      for (const thread of this.scheduler.threads) thread.isOver = true;
      await this.outside.close();
    }
    if (this.#startFailure !== undefined) throw this.#startFailure.error;
    this.#invariants.check();
    if (this.remains === undefined) return;
    this.ledger.checkSettled();
    this.#invariants.check();
  }

  /** The embedder's part. */
  async #embed(host: VirtualThread): Promise<void> {
    const { policies, workerOptions, attendants, embed, specs } = this.#deps;
    const { workers, supervision, broadcastToSender, watchdog, run } = this.#options;
    try {
      const system = await createSystem(
        {
          seams: host.seams,
          spawner: this.#threads.spawnerOf(host),
          policies,
          workerOptions,
          attendants,
          loop: host.loop,
          onHost: (place) => this.#watchPlace(host, place),
        },
        {
          agents: specs,
          workers,
          ...(supervision === undefined ? {} : { supervision: supervision as never }),
          ...(broadcastToSender === undefined ? {} : { broadcastToSender }),
          ...(watchdog === undefined ? {} : { watchdog: watchdog as never }),
        },
      );
      this.#team = embed(system, host.seams);
    } catch (error) {
      this.#startFailure = { error };
      this.scheduler.stop();
      return;
    }
    this.faults.arm(this.#stage);
    try {
      this.outcome = { value: await run?.(this.#team, this.#controls(host)) };
    } catch (error) {
      this.outcome = { error };
    }
  }

  #controls(host: VirtualThread): SimulationControls {
    const { clock, random } = host.seams;
    return {
      view: this.view,
      clock,
      random,
      sleep: (ms) => {
        if (typeof ms !== 'number' || !(ms >= 0)) throw invalidOptions('ms', ms, 'a number of milliseconds');
        return new Promise((resolve) => clock.setTimer(ms, resolve));
      },
      cause: (fault) => this.faults.cause(fault),
    };
  }

  async #boot(thread: VirtualThread, boot: ThreadBoot, line: Port, spawner: Spawner): Promise<void> {
    const { policies, attendants, definitions } = this.#deps;
    await becomeThread(boot, line, {
      spawner,
      seams: thread.seams,
      loop: thread.loop,
      placeDeps: async () => ({
        policies,
        attendants,
        inline: definitions,
        outside: this.outside.of(thread),
        makeActor: (cell) => new WatchedActor(cell, this),
      }),
      openStore: () => Promise.reject(invalidOptions('journal', undefined, 'none in a simulation')),
      onStray: (report) => {
        thread.onStray = report;
      },
      onPlace: (host) => {
        this.#watchPlace(thread, host);
        this.faults.started(thread);
      },
      onControlEvent: (event) => this.#record(event),
    });
  }

  #watchPlace(thread: VirtualThread, host: PlaceHost): void {
    const { place } = host;
    thread.placeId = place.id;
    this.#hosts.set(thread, host);
    this.ledger.add(place);
    thread.onOver.push(() => {
      this.#hosts.delete(thread);
      this.ledger.remove(place);
    });
    place.log.watch((event, mail) => {
      this.#record(event);
      if (event.type === 'envelope-settled' && mail !== undefined) this.ledger.settled(place, mail);
    });
  }

  #hasLoaded(thread: VirtualThread): boolean {
    const place = this.#hosts.get(thread)?.place;
    if (place === undefined) return false;
    for (const row of place.table.rows())
      if (row.place === place.id && place.cellOf(row.slot) === undefined) return false;
    return true;
  }

  // What actors tell

  began(cell: Cell, mail: Mail): void {
    this.ledger.began(cell, mail);
    // Most handlers are quick, some take longer than a turn of their thread.
    this.scheduler.current?.spend(LEAST_WORK_MS + MOST_WORK_MS * this.#work.next() ** 8);
  }

  fault(agentId: string): 'before' | 'after' | undefined {
    return this.faults.handlerFault(agentId);
  }

  goesOn(handling: Handling, waits: Waits): void {
    this.#suspects.add(handling, waits);
  }

  // The course of it

  #afterStep(): void {
    const { steps, nowMs } = this.scheduler;
    this.#uncheckedSteps += 1;
    if (this.#uncheckedSteps >= this.#options.checkEvery) this.#check();
    if (steps >= this.#options.maxSteps) this.#giveUp('max-steps');
    else if (nowMs >= this.#options.maxMs) this.#giveUp('max-ms');
    else if (nowMs > this.#endsAtMs) this.scheduler.stop();
  }

  #giveUp(ending: Ending): void {
    this.ending ??= ending;
    this.scheduler.stop();
  }

  #check(): void {
    this.#uncheckedSteps = 0;
    if (!this.#isEnding) this.#invariants.check();
  }

  #whenQuiet(): Promise<void> | undefined {
    if (this.#uncheckedSteps > 0) {
      this.#check();
      if (!this.#isEnding && this.#isOver()) this.#end();
    }
    return this.#suspects.wait();
  }

  #isOver(): boolean {
    if (this.#team === undefined) return false;
    const { until } = this.#options;
    if (typeof until === 'number') return this.#over('until', this.scheduler.nowMs >= until);
    if (until !== undefined) return this.#over('until', until(this.view));
    return this.#over('quiet', this.outcome !== undefined && this.#isQuiet);
  }

  #over(ending: Ending, isOver: boolean): boolean {
    if (isOver) this.ending = ending;
    return isOver;
  }

  /** Nothing is under way, nobody is being started again, and every place is up. */
  get #isQuiet(): boolean {
    if (this.ledger.outcomes !== this.ledger.totals.accepted) return false;
    if (this.scheduler.threads.some(({ frozenUntilMs }) => frozenUntilMs > this.scheduler.nowMs))
      return false;
    for (const { place } of this.#hosts.values()) {
      if (!place.isIdle) return false;
      for (const { status } of place.cells()) if (status === 'starting' || status === 'down') return false;
    }
    return this.#areAllUp;
  }

  /** No thread has died whose successor is not there yet. */
  get #areAllUp(): boolean {
    const living = new Set([...this.#hosts.values()].map(({ place }) => place.id));
    return this.scheduler.threads.every(({ placeId }) => placeId === undefined || living.has(placeId));
  }

  /** Takes what is left, and ends the team as its embedder would. */
  #end(): void {
    this.#isEnding = true;
    this.faults.disarm();
    const team = this.#team as Team;
    const [host] = [...this.#hosts.keys()].filter(({ placeId }) => placeId === 'host');
    if (host === undefined) return;
    this.#endsAtMs = this.scheduler.nowMs + END_MS;
    this.scheduler.schedule(host, host.localMs, () => {
      void (async () => {
        const remains = {
          conservation: await team.conservation(),
          deadLetters: await team.deadLetters(),
          roster: await team.roster(),
        };
        await team.stop({ drainMs: 0 });
        this.remains = remains;
        this.scheduler.stop();
      })();
    });
  }

  #note(event: Omit<SystemEvent, 'timestamp'>): void {
    const timestamp = Math.floor(this.scheduler.epochMs + this.scheduler.nowMs);
    this.#record({ ...event, timestamp });
  }

  #record(event: SystemEvent): void {
    this.#proposals.see(event);
    this.trace.add(event, this.scheduler.current?.localMs ?? this.scheduler.nowMs);
  }
}
