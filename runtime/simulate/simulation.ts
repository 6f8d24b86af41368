import type { Cell } from '../cell/cell.ts';
import type { Handling } from '../cell/handling.ts';
import type { Mail } from '../mailbox/mail.ts';
import type { SystemEvent } from '../protocol/system-event.ts';
import { invalidOptions, isOrreryError } from '../protocol/errors.ts';
import type { System } from '../system/system.ts';
import type { ThreadBoot } from '../control/control-calls.ts';
import { Chance } from './chance.ts';
import { EscapeWatch, SuspectedEscapes } from './escape-watch.ts';
import { FaultInjector, type HostCrash, STAGE } from './fault-injector.ts';
import { FaultyLink } from './faulty-link.ts';
import { replaceGlobalReads, restoreGlobalReads } from './global-reads.ts';
import { Invariants, ProposalCheck } from './invariants.ts';
import { JournalCheck } from './journal-check.ts';
import { ProcessLedgers } from './ledger-check.ts';
import type { Waits } from './running.ts';
import { Scheduler } from './scheduler.ts';
import type { ParsedSimulation, SimulationControls, SimulationView } from './simulate-options.ts';
import { viewOf } from './simulation-view.ts';
import { SimulatedDisk } from './simulated-disk.ts';
import { SimulatedOutside } from './simulated-outside.ts';
import {
  type FinalState,
  type ProcessWatch,
  SimulatedProcess,
  type SimulationDeps,
} from './simulated-process.ts';
import { StrayRejections } from './stray-rejections.ts';
import { TraceRecorder } from './trace-recorder.ts';
import { VirtualThreads } from './virtual-spawner.ts';
import type { VirtualThread } from './virtual-thread.ts';

/** Unix milliseconds at virtual time 0: 2027-01-15. */
const EPOCH_MS = 1_800_000_000_000;
/** The shortest time of a handler, virtual milliseconds. */
const LEAST_WORK_MS = 0.002;
/** The most that is added to that, virtual milliseconds. */
const MOST_WORK_MS = 6;
/** The longest time of the team's stop, virtual milliseconds. */
const END_MS = 60_000;
/** The wait after a failed start of the process, virtual milliseconds. */
const START_AGAIN_MS = 500;

/** Why a simulation ended: `quiet` if `run` has returned and nothing is in flight, `until` by that option, or by a limit. */
export type Ending = 'quiet' | 'until' | 'max-steps' | 'max-ms';

/** One simulation: the lives of a process, the faults, and the checks. */
export class Simulation<Team extends System> implements ProcessWatch {
  readonly trace: TraceRecorder;
  readonly ledgers = new ProcessLedgers();
  readonly outside: SimulatedOutside;
  readonly faults: FaultInjector;
  readonly scheduler: Scheduler;
  readonly view: SimulationView;
  /** Times that the process was started. */
  lives = 0;
  ending: Ending | undefined;
  finalState: FinalState | undefined;
  /** What `run` returned or threw. */
  outcome: { readonly value: unknown } | { readonly error: unknown } | undefined;
  readonly #deps: SimulationDeps<Team>;
  readonly #options: ParsedSimulation<Team>;
  readonly #threads: VirtualThreads;
  readonly #proposals = new ProposalCheck();
  readonly #journal = new JournalCheck();
  readonly #disk: SimulatedDisk | undefined;
  readonly #invariants: Invariants;
  readonly #suspects = new SuspectedEscapes();
  readonly #escapes: EscapeWatch;
  readonly #work: Chance;
  /** The thread for the simulation's own steps. */
  readonly #stage: VirtualThread;
  /** Undefined while the process is down. */
  #process: SimulatedProcess<Team> | undefined;
  #startFailure: { readonly error: unknown } | undefined;
  #isEnding = false;
  #endsAtMs = Number.POSITIVE_INFINITY;
  #uncheckedSteps = 0;

  constructor(deps: SimulationDeps<Team>, options: ParsedSimulation<Team>) {
    this.#deps = deps;
    this.#options = options;
    const { seed, journal } = options;
    this.trace = new TraceRecorder(options.keepsTrace);
    this.scheduler = new Scheduler(
      {
        beforeStep: (thread) => this.faults.beforeStep(thread),
        afterCode: () => this.#escapes.afterCode(),
        afterStep: () => this.#afterStep(),
        suspect: ({ placeId }) => this.#suspects.at(placeId),
        whenQuiet: () => this.#whenQuiet(),
      },
      { seed, epochMs: EPOCH_MS },
    );
    this.#escapes = new EscapeWatch(this.scheduler);
    this.#stage = this.scheduler.newThread(STAGE);
    this.faults = new FaultInjector(
      {
        scheduler: this.scheduler,
        hasLoaded: (thread) => this.#process?.hasLoaded(thread) === true,
        crashHost: (how) => this.#crashHost(how),
        note: (event) => this.#note({ ...event, type: 'fault' }),
      },
      { seed, faults: options.faults, hasDisk: journal !== undefined },
    );
    this.#disk = journal && this.#newDisk();
    this.outside = new SimulatedOutside(this.scheduler, options);
    this.#work = new Chance(seed, 'work');
    const between = new Chance(seed, 'threads');
    this.#threads = new VirtualThreads({
      scheduler: this.scheduler,
      delayMs: (from, to) => this.faults.delayMs(from, to),
      between: (least, most) => between.between(least, most),
      boot: (thread, boot, port, spawner) =>
        this.#process?.boot(thread, boot as ThreadBoot, port, spawner) ?? Promise.resolve(),
    });
    this.view = viewOf({
      scheduler: this.scheduler,
      ledgers: this.ledgers,
      faults: this.faults,
      trace: this.trace,
      outside: this.outside,
      lives: () => this.lives,
      kept: () => this.#disk?.mails.size ?? 0,
      hosts: () => this.#process?.hosts.values() ?? [],
    });
    this.#invariants = new Invariants(
      [this.ledgers, this.#proposals, this.#journal, this.#clientChecks()],
      options.invariants,
      this.view,
    );
  }

  get violations(): readonly string[] {
    return this.#invariants.violations;
  }

  /** Runs the simulation. Rejects if the team cannot be started, and with SIMULATION_ESCAPED. */
  async run(): Promise<void> {
    const strays = new StrayRejections(this.scheduler);
    this.#startProcess();
    this.#escapes.enable();
    strays.enable();
    replaceGlobalReads();
    try {
      await this.scheduler.run();
    } finally {
      restoreGlobalReads();
      strays.disable();
      this.#escapes.disable();
      for (const thread of this.scheduler.threads) thread.isOver = true;
      await this.outside.close();
    }
    if (this.#startFailure !== undefined) throw this.#startFailure.error;
    this.#invariants.check();
    if (this.finalState === undefined) return;
    this.ledgers.checkSettled();
    this.#invariants.check();
  }

  #newDisk(): SimulatedDisk {
    return new SimulatedDisk({
      fate: () => this.faults.write(),
      later: (thread, ms, run) => this.scheduler.schedule(thread, thread.localMs + ms, run),
      chance: new Chance(this.#options.seed, 'disk'),
      onWritten: (batches, firstMails) => this.#journal.written(batches, firstMails),
    });
  }

  #clientChecks() {
    const checks = this.#deps.clientChecks ?? [];
    const clients = (): Iterable<Parameters<(typeof checks)[number]['see']>[0]> =>
      this.#process?.clients() ?? [];
    return {
      get violations() {
        return checks.flatMap(({ violations }) => violations);
      },
      check: () => {
        if (checks.length === 0) return;
        for (const client of clients()) for (const check of checks) check.see(client);
      },
    };
  }

  #startProcess(): void {
    const process = new SimulatedProcess(this.#deps, this.#options, {
      scheduler: this.scheduler,
      threads: this.#threads,
      outside: this.outside,
      disk: this.#disk,
      ledger: this.ledgers.open(),
      watch: this,
    });
    this.lives += 1;
    this.#journal.lifeBegins();
    this.#process = process;
    this.outcome = undefined;
    const { host } = process;
    this.scheduler.schedule(host, this.scheduler.nowMs, () => void this.#embed(process));
  }

  /** Starts the team and calls `run`. */
  async #embed(process: SimulatedProcess<Team>): Promise<void> {
    let team: Team;
    try {
      team = await process.start();
    } catch (error) {
      this.#couldNotStart(error);
      return;
    }
    this.faults.arm(this.#stage);
    try {
      const value = await this.#options.run?.(team, this.#controls(process));
      if (this.#process === process) this.outcome = { value };
    } catch (error) {
      if (this.#process === process) this.outcome = { error };
    }
  }

  /** Tries a start again later if the disk is full; any other failure ends the simulation. */
  #couldNotStart(error: unknown): void {
    if (this.lives > 1 && isOrreryError(error) && error.code === 'STORE_FAILED') {
      this.#note({ type: 'fault', reason: 'the process could not start: the disk is full' });
      this.#endProcess({ powerLoss: false, downMs: START_AGAIN_MS });
      return;
    }
    this.#startFailure = { error };
    this.scheduler.stop();
  }

  /** Ends the process, after the current step. */
  #crashHost(how: HostCrash): void {
    if (this.scheduler.current === undefined) this.#endProcess(how);
    else this.scheduler.schedule(this.#stage, this.scheduler.nowMs, () => this.#endProcess(how));
  }

  #endProcess({ powerLoss, downMs }: HostCrash): void {
    if (this.#process === undefined || this.#isEnding) return;
    this.#process.kill();
    this.#process = undefined;
    this.#suspects.clear();
    this.faults.processEnded();
    this.#disk?.crash({ powerLoss });
    if (powerLoss) this.#journal.powerLost();
    const atMs = this.scheduler.nowMs + downMs;
    this.scheduler.schedule(
      this.#stage,
      atMs,
      () => {
        this.#note({ type: 'fault', reason: 'the process is started again' });
        this.#startProcess();
      },
      true,
    );
  }

  #controls({ host }: SimulatedProcess<Team>): SimulationControls {
    const { clock, random } = host.seams;
    return {
      view: this.view,
      life: this.lives,
      clock,
      random,
      sleep: (ms) => {
        if (typeof ms !== 'number' || !(ms >= 0)) throw invalidOptions('ms', ms, 'a number of milliseconds');
        return new Promise((resolve) => clock.setTimer(ms, resolve));
      },
      cause: (fault) => this.faults.cause(fault),
      link: (faults = this.#options.faults.link ?? {}) => new FaultyLink({ clock, random }, faults),
    };
  }

  placed(thread: VirtualThread): void {
    this.faults.started(thread);
  }

  settled(mail: Mail): void {
    this.#journal.settled(mail);
  }

  record(event: SystemEvent): void {
    this.#proposals.see(event);
    if (event.type === 'place-died') this.#journal.threadDied(event.place ?? '');
    this.trace.add(event, this.scheduler.current?.localMs ?? this.scheduler.nowMs);
  }

  began(cell: Cell, mail: Mail): void {
    this.#process?.ledger.began(cell, mail);
    if (this.#disk !== undefined) this.#journal.began(cell, mail);
    // Skewed: most handlers are quick, and some take longer than a cell's turn.
    this.scheduler.current?.spend(LEAST_WORK_MS + MOST_WORK_MS * this.#work.next() ** 8);
  }

  fault(agentId: string): 'before' | 'after' | undefined {
    return this.faults.handlerFault(agentId);
  }

  goesOn(handling: Handling, waits: Waits): void {
    this.#suspects.add(handling, waits);
  }

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
    const process = this.#process;
    if (process?.team === undefined) return false;
    const { until } = this.#options;
    if (typeof until === 'number') return this.#over('until', this.scheduler.nowMs >= until);
    if (until !== undefined) return this.#over('until', until(this.view));
    return this.#over('quiet', this.outcome !== undefined && process.isQuiet);
  }

  #over(ending: Ending, isOver: boolean): boolean {
    if (isOver) this.ending = ending;
    return isOver;
  }

  /** Ends the simulation: reads the final state, and stops the team. */
  #end(): void {
    const process = this.#process as SimulatedProcess<Team>;
    const hosted = process.agentIds;
    this.#isEnding = true;
    this.faults.disarm();
    this.#endsAtMs = this.scheduler.nowMs + END_MS;
    this.scheduler.schedule(process.host, process.host.localMs, () => {
      void process.stop().then((finalState) => {
        this.finalState = finalState;
        // Checked after the stop, because a dead thread's mail may be written as late as that.
        if (this.ending === 'quiet') this.#journal.checkRest((id) => hosted.has(id));
        this.scheduler.stop();
      });
    });
  }

  #note(event: Omit<SystemEvent, 'timestamp'>): void {
    const timestamp = Math.floor(this.scheduler.epochMs + this.scheduler.nowMs);
    this.record({ ...event, timestamp });
  }
}
