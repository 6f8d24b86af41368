import type { Cell } from '../cell/cell.ts';
import type { Handling } from '../cell/handling.ts';
import type { AgentClient } from '../cell/interceptor.ts';
import type { ThreadBoot } from '../control/control-calls.ts';
import { PEERS } from '../control/enrolment.ts';
import type { Mail } from '../mailbox/mail.ts';
import { invalidOptions, isOrreryError } from '../protocol/errors.ts';
import type { Outcome, SystemEvent } from '../protocol/system-event.ts';
import type { System } from '../system/system.ts';
import { Chance } from './chance.ts';
import { SuspectedEscapes } from './escape-watch.ts';
import { FaultInjector, type HostCrash } from './fault-injector.ts';
import { FaultyLink } from './faulty-link.ts';
import { type Check, ProposalCheck } from './invariants.ts';
import { JournalCheck } from './journal-check.ts';
import { ProcessLedgers } from './ledger-check.ts';
import type { Waits } from './running.ts';
import type { Scheduler } from './scheduler.ts';
import type { NodeSettings, SimulationControls, SimulationView } from './simulate-options.ts';
import { SimulatedDisk } from './simulated-disk.ts';
import { SimulatedOutside } from './simulated-outside.ts';
import {
  type FinalState,
  type ProcessWatch,
  SimulatedProcess,
  type SimulationDeps,
} from './simulated-process.ts';
import { viewOf } from './simulation-view.ts';
import { TraceRecorder } from './trace-recorder.ts';
import { VirtualThreads } from './virtual-spawner.ts';
import type { ThreadHome, VirtualThread } from './virtual-thread.ts';

/** The shortest time of a handler, virtual milliseconds. */
const LEAST_WORK_MS = 0.002;
/** The most that is added to that, virtual milliseconds. */
const MOST_WORK_MS = 6;
/** The wait after a failed start of the process, virtual milliseconds. */
const START_AGAIN_MS = 500;

/** What all nodes of a simulation share. */
export interface World {
  readonly scheduler: Scheduler;
  /** The thread for the simulation's own steps. */
  readonly stage: VirtualThread;
}

/** One node: the lives of a process, its faults, its disk, and the checks of what it promises. */
export class SimulatedNode<Team extends System> implements ProcessWatch, ThreadHome {
  readonly trace: TraceRecorder;
  readonly ledgers = new ProcessLedgers();
  readonly outside: SimulatedOutside;
  readonly faults: FaultInjector;
  readonly view: SimulationView;
  readonly suspects = new SuspectedEscapes();
  readonly threads: VirtualThreads;
  /** Times that the process was started. */
  lives = 0;
  finalState: FinalState | undefined;
  /** What `run` returned or threw. */
  outcome: { readonly value: unknown } | { readonly error: unknown } | undefined;
  readonly #world: World;
  readonly #deps: SimulationDeps<Team>;
  readonly #options: NodeSettings<Team>;
  readonly #proposals = new ProposalCheck();
  readonly #journal = new JournalCheck();
  readonly #disk: SimulatedDisk | undefined;
  readonly #work: Chance;
  /** Undefined while the process is down. */
  #process: SimulatedProcess<Team> | undefined;
  #isEnding = false;

  constructor(world: World, deps: SimulationDeps<Team>, options: NodeSettings<Team>) {
    this.#world = world;
    this.#deps = deps;
    this.#options = options;
    const { scheduler } = world;
    const { seed, journal } = options;
    this.trace = new TraceRecorder(options.keepsTrace);
    this.faults = new FaultInjector(
      {
        scheduler,
        threads: () => this.threads.all,
        hasLoaded: (thread) => this.#process?.hasLoaded(thread) === true,
        crashHost: (how) => this.#crashHost(how),
        note: (event) => this.note({ ...event, type: 'fault' }),
      },
      { seed, faults: options.faults, hasDisk: journal !== undefined },
    );
    this.#disk = journal && this.#newDisk();
    this.outside = new SimulatedOutside(scheduler, options);
    this.#work = new Chance(seed, 'work');
    const between = new Chance(seed, 'threads');
    this.threads = new VirtualThreads({
      scheduler,
      home: this,
      delayMs: (from, to) => this.faults.delayMs(from, to),
      between: (least, most) => between.between(least, most),
      boot: (thread, boot, port, spawner) =>
        this.#process?.boot(thread, boot as ThreadBoot, port, spawner) ?? Promise.resolve(),
    });
    this.view = viewOf({
      scheduler,
      ledgers: this.ledgers,
      faults: this.faults,
      trace: this.trace,
      outside: this.outside,
      lives: () => this.lives,
      kept: () => this.#disk?.mails.size ?? 0,
      hosts: () => this.#process?.hosts.values() ?? [],
    });
  }

  /** Checks of what it promises. */
  get checks(): readonly Check[] {
    return [this.ledgers, this.#proposals, this.#journal, this.#clientChecks()];
  }

  /** Whether its team is up. */
  get isUp(): boolean {
    return this.#process?.team !== undefined;
  }

  /** Whether `run` has returned, and nothing is in flight. */
  get isQuiet(): boolean {
    return this.outcome !== undefined && this.#process?.isQuiet === true;
  }

  start(): void {
    const process = new SimulatedProcess(this.#deps, this.#options, {
      scheduler: this.#world.scheduler,
      threads: this.threads,
      outside: this.outside,
      disk: this.#disk,
      ledger: this.ledgers.open(),
      watch: this,
    });
    this.lives += 1;
    this.#journal.lifeBegins();
    this.#process = process;
    this.outcome = undefined;
    const { scheduler } = this.#world;
    scheduler.schedule(process.host, scheduler.nowMs, () => void this.#embed(process));
  }

  /** Reads the final state of its team, which must be up, and calls `read`. From now on nothing goes wrong. */
  end(read: (state: FinalState) => void): void {
    this.#isEnding = true;
    this.faults.disarm();
    const { scheduler } = this.#world;
    const process = this.#process as SimulatedProcess<Team>;
    scheduler.schedule(process.host, process.host.localMs, () => void process.finalState().then(read));
  }

  /** Stops its team, and calls `stopped`. */
  stop(state: FinalState, stopped: () => void): void {
    const { scheduler } = this.#world;
    const process = this.#process as SimulatedProcess<Team>;
    const stop = (): void =>
      void process.stop().then(() => {
        this.finalState = state;
        stopped();
      });
    if (scheduler.current === process.host) stop();
    else scheduler.schedule(process.host, process.host.localMs, stop);
  }

  /** The ids of its agents. */
  get agentIds(): ReadonlySet<string> {
    return this.#process?.agentIds ?? new Set();
  }

  /** Checks, after the stop, that the journal has nothing left for agents that are here. */
  checkRest(hosted: ReadonlySet<string>): void {
    this.#journal.checkRest((id) => hosted.has(id));
  }

  #newDisk(): SimulatedDisk {
    return new SimulatedDisk({
      fate: () => this.faults.write(),
      later: (thread, ms, run) => this.#world.scheduler.schedule(thread, thread.localMs + ms, run),
      chance: new Chance(this.#options.seed, 'disk'),
      onWritten: (batches, firstMails) => this.#journal.written(batches, firstMails),
    });
  }

  #clientChecks(): Check {
    const checks = this.#deps.clientChecks ?? [];
    const clients = (): Iterable<AgentClient> => this.#process?.clients() ?? [];
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

  /** Starts the team and calls `run`. */
  async #embed(process: SimulatedProcess<Team>): Promise<void> {
    let team: Team;
    try {
      team = await process.start();
    } catch (error) {
      this.#couldNotStart(error);
      return;
    }
    this.faults.arm(this.#world.stage);
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
      this.note({ type: 'fault', reason: 'the process could not start: the disk is full' });
      this.#endProcess({ powerLoss: false, downMs: START_AGAIN_MS });
      return;
    }
    this.#world.scheduler.fail(error);
  }

  /** Ends the process, after the current step. */
  #crashHost(how: HostCrash): void {
    const { scheduler, stage } = this.#world;
    if (scheduler.current === undefined) this.#endProcess(how);
    else scheduler.schedule(stage, scheduler.nowMs, () => this.#endProcess(how));
  }

  #endProcess({ powerLoss, downMs }: HostCrash): void {
    if (this.#process === undefined || this.#isEnding) return;
    this.#process.kill();
    this.#process = undefined;
    this.suspects.clear();
    this.faults.processEnded();
    this.#disk?.crash({ powerLoss });
    if (powerLoss) this.#journal.powerLost();
    const { scheduler, stage } = this.#world;
    scheduler.schedule(
      stage,
      scheduler.nowMs + downMs,
      () => {
        this.note({ type: 'fault', reason: 'the process is started again' });
        this.start();
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

  beforeStep(thread: VirtualThread): void {
    this.faults.beforeStep(thread);
  }

  suspect({ placeId }: VirtualThread): string | undefined {
    return this.suspects.at(placeId);
  }

  placed(thread: VirtualThread): void {
    this.faults.started(thread);
  }

  settled(mail: Mail, place: string, outcome: Outcome | undefined): void {
    this.#journal.settled(mail);
    if (place === PEERS && outcome === 'handled') this.#options.among?.handled(mail);
  }

  record(event: SystemEvent): void {
    const { scheduler } = this.#world;
    this.#proposals.see(event);
    if (event.type === 'place-died') this.#journal.threadDied(event.place ?? '');
    this.trace.add(event, scheduler.current?.localMs ?? scheduler.nowMs);
  }

  began(cell: Cell, mail: Mail): void {
    this.#process?.ledger.began(cell, mail);
    if (this.#disk !== undefined) this.#journal.began(cell, mail);
    this.#options.among?.began(cell, mail);
    // Skewed: most handlers are quick, and some take longer than a cell's turn.
    this.#world.scheduler.current?.spend(LEAST_WORK_MS + MOST_WORK_MS * this.#work.next() ** 8);
  }

  fault(agentId: string): 'before' | 'after' | undefined {
    return this.faults.handlerFault(agentId);
  }

  goesOn(handling: Handling, waits: Waits): void {
    this.suspects.add(handling, waits);
  }

  note(event: Omit<SystemEvent, 'timestamp'>): void {
    const { epochMs, nowMs } = this.#world.scheduler;
    this.record({ ...event, timestamp: Math.floor(epochMs + nowMs) });
  }
}
