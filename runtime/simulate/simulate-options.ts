import { z } from 'zod';
import type { AgentDefinition } from '../agent/agent-definition.ts';
import { CpuPoolOptions } from '../agent/offload.ts';
import type { SystemEvent } from '../protocol/system-event.ts';
import { invalidOptions } from '../protocol/errors.ts';
import type { Clock } from '../protocol/seams.ts';
import { HistoryOptions, JournalOptions } from '../journal/journal-options.ts';
import { parseOptions, requireFunction } from '../protocol/parse-options.ts';
import type { System } from '../system/system.ts';
import type { ModuleAgent, SystemOptions } from '../system/system-options.ts';
import { type FaultCounts, Faults, FAULTS_OF_DISKS, type PlannedFault } from './faults.ts';
import type { FaultyLink, LinkFaults } from './faulty-link.ts';
import type { Totals } from './ledger-check.ts';
import type { PerformedEffect, SimulatedEffect, SimulatedOffload } from './simulated-outside.ts';

/** An agent in a simulation: always in a worker thread. A module is loaded once, for all threads. */
export type SimulatedAgent =
  | AgentDefinition<never>
  | AgentDefinition<unknown>
  | Omit<ModuleAgent, 'isolation'>;

/** One agent as a simulation sees it at a moment. */
export interface AgentView {
  readonly id: string;
  /** The thread in which it lives. */
  readonly place: string;
  readonly status: string;
  /** Envelopes in its mailbox, and in its hands. */
  readonly waiting: number;
  readonly inHand: number;
  /** What its `onStart` returned. */
  readonly state: unknown;
}

/** A simulation at a moment between two steps. */
export interface SimulationView extends Totals {
  /** Virtual milliseconds since it began. */
  readonly nowMs: number;
  readonly steps: number;
  /** Times that the process was started. */
  readonly lives: number;
  /** Envelopes in the journal whose outcome it does not know. */
  readonly kept: number;
  /** Envelopes that handlers were called with, again for every attempt. */
  readonly begun: number;
  /** What went wrong so far. */
  readonly faults: Readonly<FaultCounts>;
  readonly events: readonly SystemEvent[];
  readonly effects: readonly PerformedEffect[];
  agents(): readonly AgentView[];
  agent(id: string): AgentView | undefined;
}

/** Says what is wrong, in a sentence; undefined when nothing is. */
export type Invariant = (view: SimulationView) => string | undefined;

/** What the embedder can do in a simulation that it cannot do in reality. */
export interface SimulationControls {
  readonly view: SimulationView;
  /** Which start of the process this is: 1, and one more after each `hostCrash`. */
  readonly life: number;
  /** Virtual time, as the embedder's thread has it. */
  readonly clock: Clock;
  /** A number in [0, 1). */
  random(): number;
  /** Waits, in virtual time. */
  sleep(ms: number): Promise<void>;
  /** Has this go wrong now. Throws INVALID_OPTIONS for a place that is none. */
  cause(fault: Fault): void;
  /**
   * A link between machines, in virtual time, for what is made to go over those: `overLink(medium, simulation.link())`.
   * `faults`: what it does to messages. @default what `faults.link` of the simulation says
   */
  link(faults?: LinkFaults): FaultyLink;
}

/** One that is to happen now. */
export type Fault = PlannedFault extends infer Planned
  ? Planned extends unknown
    ? Omit<Planned, 'atMs'>
    : never
  : never;

/** When a simulation is over: at a virtual time, or when a function says so; asked when nothing but time moves. */
export type Until = number | ((view: SimulationView) => boolean);

/**
 * - `agents`     who is in the team.
 * - `seed`       what all chance is made of: the same one, the same run. @default 1
 * - `run`        what the embedder does with the team, at each start of the process. The simulation is over when it has,
 *                and nothing is under way.
 * - `journal`    a journal on a simulated disk: `true`, or whose mailboxes are kept, as in `startSystem`. @default none
 * - `until`      when it is over instead. @default when `run` is done and nothing is under way
 * - `faults`     what goes wrong. @default nothing
 * - `effects`    what `ctx.effect(name, ...)` comes to, by name. One that is asked for and not here ends the simulation.
 * - `effectMs`   how long an effect takes: a range, milliseconds. @default [0.1, 10]
 * - `offload`    what `ctx.offload(module, input)` comes to. @default the module runs for real while time stands still
 * - `remembered` what offloaded modules have returned, by module and input, to be used by many simulations.
 * - `invariants` what must always hold, beside what the runtime promises.
 * - `checkEvery` steps between two checks; the end and every pause is checked anyway. @default 64
 * - `workers`    worker threads. @default 2
 * - `maxSteps`   steps after which it is given up. @default 2_000_000
 * - `maxMs`      virtual milliseconds after which it is given up. @default 3_600_000
 * - `keepsTrace` whether the events are kept, or only their hash. @default true
 *
 * `supervision`, `broadcastToSender`, `watchdog`, `cpu`, `peers` and `policies` are those of `startSystem`.
 */
export interface SimulateOptions<Team extends System = System> {
  readonly agents: readonly SimulatedAgent[];
  readonly seed?: number;
  readonly run?: (team: Team, simulation: SimulationControls) => unknown;
  readonly until?: Until;
  readonly journal?: true | SimulatedJournal;
  readonly faults?: Faults;
  readonly effects?: Readonly<Record<string, SimulatedEffect>>;
  readonly effectMs?: readonly [number, number];
  readonly offload?: SimulatedOffload;
  readonly remembered?: Map<string, unknown>;
  readonly invariants?: readonly Invariant[];
  readonly checkEvery?: number;
  readonly workers?: number;
  readonly maxSteps?: number;
  readonly maxMs?: number;
  readonly keepsTrace?: boolean;
  readonly supervision?: SystemOptions['supervision'];
  readonly broadcastToSender?: boolean;
  readonly watchdog?: SystemOptions['watchdog'];
  readonly cpu?: SystemOptions['cpu'];
  readonly peers?: SystemOptions['peers'];
}

/** The options of `startSystem`'s journal, but for a path, and without a history unless one is asked for. */
const SimulatedJournal = JournalOptions.omit({ path: true }).extend({
  history: z.union([HistoryOptions, z.literal(false)]).default(false),
});
type SimulatedJournal = z.input<typeof SimulatedJournal>;

const isFunction = (value: unknown): boolean => typeof value === 'function';
const callable = z.custom<(...given: never[]) => unknown>(isFunction, 'a function');

const Own = z.strictObject({
  agents: z.array(z.unknown()),
  seed: z.int().default(1),
  run: callable.optional(),
  until: z.union([z.number().nonnegative(), callable]).optional(),
  journal: z.union([z.literal(true), SimulatedJournal]).optional(),
  faults: Faults.prefault({}),
  effects: z.record(z.string(), callable).default({}),
  effectMs: z.tuple([z.number().nonnegative(), z.number().nonnegative()]).default([0.1, 10]),
  offload: callable.optional(),
  remembered: z.instanceof(Map).optional(),
  invariants: z.array(callable).default([]),
  checkEvery: z.int().positive().default(64),
  workers: z.int().min(1).max(64).default(2),
  maxSteps: z.int().positive().default(2_000_000),
  maxMs: z.number().positive().default(3_600_000),
  keepsTrace: z.boolean().default(true),
  supervision: z.unknown().optional(),
  broadcastToSender: z.boolean().optional(),
  watchdog: z.unknown().optional(),
  cpu: CpuPoolOptions.prefault({}),
  peers: z.unknown().optional(),
  policies: z.unknown().optional(),
});

/** The options with their defaults; throws INVALID_OPTIONS naming field and value. */
export function parseSimulateOptions<Team extends System>(options: SimulateOptions<Team>) {
  const parsed = parseOptions(Own, options as never, 'options');
  if (options.run !== undefined) requireFunction('run', options.run);
  const { journal } = parsed;
  if (journal === undefined) refuseDiskFaults(parsed.faults);
  return {
    ...parsed,
    journal: journal === true ? SimulatedJournal.parse({}) : journal,
    run: options.run,
    until: options.until,
    effects: options.effects ?? {},
    offload: options.offload,
    invariants: options.invariants ?? [],
    remembered: options.remembered ?? new Map<string, unknown>(),
  };
}

function refuseDiskFaults(faults: z.output<typeof Faults>): void {
  for (const kind of FAULTS_OF_DISKS)
    if (faults[kind] !== undefined)
      throw invalidOptions(`options.faults.${kind}`, faults[kind], 'nothing, without a journal');
  faults.planned.forEach(({ fault }, at) => {
    if (FAULTS_OF_DISKS.some((kind) => kind === fault))
      throw invalidOptions(`options.faults.planned.${at}.fault`, fault, 'one that needs no journal');
  });
}

export type ParsedSimulation<Team extends System> = ReturnType<typeof parseSimulateOptions<Team>>;
