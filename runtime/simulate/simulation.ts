import type { System } from '../system/system.ts';
import { EscapeWatch } from './escape-watch.ts';
import { replaceGlobalReads, restoreGlobalReads } from './global-reads.ts';
import type { Check } from './invariants.ts';
import { Scheduler } from './scheduler.ts';
import type { SimulatedNetwork } from './simulated-network.ts';
import type { SimulatedNode, World } from './simulated-node.ts';
import type { FinalState } from './simulated-process.ts';
import { StrayRejections } from './stray-rejections.ts';
import type { VirtualThread } from './virtual-thread.ts';

/** Unix milliseconds at virtual time 0: 2027-01-15. */
export const EPOCH_MS = 1_800_000_000_000;
/** The name of the thread for the simulation's own steps. */
const STAGE = 'stage';
/** The longest time of the teams' stop, virtual milliseconds. */
const END_MS = 60_000;

/** Why a simulation ended: `quiet` if `run` has returned and nothing is in flight, `until` by that option, or by a limit. */
export type Ending = 'quiet' | 'until' | 'max-steps' | 'max-ms';

/** When a simulation ends at the latest, and how often it is checked. */
export interface SimulationLimits {
  readonly seed: number;
  readonly checkEvery: number;
  readonly maxSteps: number;
  readonly maxMs: number;
}

/**
 * What is simulated.
 *
 * - `until`   when it ends: at a virtual time, or as the function says. @default when all nodes are quiet
 * - `network` between the nodes, if there are several.
 */
export interface Staged<Team extends System> {
  readonly nodes: readonly SimulatedNode<Team>[];
  readonly invariants: Required<Check>;
  readonly until: number | (() => boolean) | undefined;
  readonly network?: SimulatedNetwork;
}

/** One simulation: time, the nodes, and the checks. */
export class Simulation<Team extends System> {
  readonly scheduler: Scheduler;
  readonly nodes: readonly SimulatedNode<Team>[];
  readonly network: SimulatedNetwork | undefined;
  ending: Ending | undefined;
  readonly #limits: SimulationLimits;
  readonly #staged: Staged<Team>;
  readonly #escapes: EscapeWatch;
  readonly #stage: VirtualThread;
  #isEnding = false;
  #endsAtMs = Number.POSITIVE_INFINITY;
  #uncheckedSteps = 0;

  constructor(limits: SimulationLimits, setUp: (world: World) => Staged<Team>) {
    this.#limits = limits;
    this.scheduler = new Scheduler(
      {
        beforeStep: (thread) => thread.home?.beforeStep(thread),
        afterCode: () => this.#escapes.afterCode(),
        afterStep: () => this.#afterStep(),
        suspect: (thread) => thread.home?.suspect(thread),
        whenQuiet: () => this.#whenQuiet(),
      },
      { seed: limits.seed, epochMs: EPOCH_MS },
    );
    this.#escapes = new EscapeWatch(this.scheduler);
    this.#stage = this.scheduler.newThread(STAGE);
    this.#staged = setUp({ scheduler: this.scheduler, stage: this.#stage });
    this.nodes = this.#staged.nodes;
    this.network = this.#staged.network;
  }

  get violations(): readonly string[] {
    return this.#staged.invariants.violations;
  }

  /** Threads in all lives of all nodes. */
  get threads(): number {
    return this.scheduler.threads.length - 1;
  }

  /** Runs the simulation. Rejects if a team cannot be started, and with SIMULATION_ESCAPED. */
  async run(): Promise<void> {
    const { nodes, scheduler } = this;
    const { invariants } = this.#staged;
    const strays = new StrayRejections(scheduler);
    for (const node of nodes) node.start();
    this.#escapes.enable();
    strays.enable();
    replaceGlobalReads();
    try {
      await scheduler.run();
    } finally {
      restoreGlobalReads();
      strays.disable();
      this.#escapes.disable();
      for (const thread of scheduler.threads) thread.isOver = true;
      for (const { outside } of nodes) await outside.close();
    }
    invariants.check();
    for (const { finalState, ledgers } of nodes) if (finalState !== undefined) ledgers.checkSettled();
    invariants.check();
  }

  #afterStep(): void {
    const { steps, nowMs } = this.scheduler;
    const { checkEvery, maxSteps, maxMs } = this.#limits;
    this.#uncheckedSteps += 1;
    if (this.#uncheckedSteps >= checkEvery) this.#check();
    if (steps >= maxSteps) this.#giveUp('max-steps');
    else if (nowMs >= maxMs) this.#giveUp('max-ms');
    else if (nowMs > this.#endsAtMs) this.scheduler.stop();
  }

  #giveUp(ending: Ending): void {
    this.ending ??= ending;
    this.scheduler.stop();
  }

  #check(): void {
    this.#uncheckedSteps = 0;
    if (!this.#isEnding) this.#staged.invariants.check();
  }

  #whenQuiet(): Promise<void> | undefined {
    if (this.#uncheckedSteps > 0) {
      this.#check();
      if (!this.#isEnding && this.#isOver()) this.#end();
    }
    const waits = this.nodes.flatMap(({ suspects }) => suspects.wait() ?? []);
    return waits.length > 1 ? Promise.all(waits).then(() => undefined) : waits[0];
  }

  #isOver(): boolean {
    const { nodes } = this;
    if (!nodes.every(({ isUp }) => isUp)) return false;
    const { until } = this.#staged;
    if (typeof until === 'number') return this.#over('until', this.scheduler.nowMs >= until);
    if (until !== undefined) return this.#over('until', until());
    return this.#over(
      'quiet',
      nodes.every(({ isQuiet }) => isQuiet),
    );
  }

  #over(ending: Ending, isOver: boolean): boolean {
    if (isOver) this.ending = ending;
    return isOver;
  }

  /** Ends the simulation: reads all final states, then stops all teams. */
  #end(): void {
    const { nodes } = this;
    const hosted = new Map(nodes.map((node) => [node, node.agentIds]));
    this.#isEnding = true;
    this.#endsAtMs = this.scheduler.nowMs + END_MS;
    this.network?.calm();
    const states = new Map<SimulatedNode<Team>, FinalState>();
    let running = nodes.length;
    const stopped = (): void => {
      running -= 1;
      if (running > 0) return;
      // Checked after the stop, because a dead thread's mail may be written as late as that.
      if (this.ending === 'quiet') for (const [node, ids] of hosted) node.checkRest(ids);
      this.scheduler.stop();
    };
    for (const node of nodes)
      node.end((state) => {
        states.set(node, state);
        if (states.size === nodes.length) for (const [one, read] of states) one.stop(read, stopped);
      });
  }
}
