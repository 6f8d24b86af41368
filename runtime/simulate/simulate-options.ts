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
import type { AmongNodes } from './among-nodes.ts';
import { type FaultCounts, Faults, FAULTS_OF_DISKS, type PlannedFault } from './faults.ts';
import type { FaultyLink, LinkFaults } from './faulty-link.ts';
import type { Totals } from './ledger-check.ts';
import type { PerformedEffect, SimulatedEffect, SimulatedOffload } from './simulated-outside.ts';

/** An agent in a simulation. It always runs in a virtual worker thread. Its module is loaded once for all threads. */
export type SimulatedAgent =
  | AgentDefinition<never>
  | AgentDefinition<unknown>
  | Omit<ModuleAgent, 'isolation'>;

/** The state of one agent. */
export interface AgentView {
  readonly id: string;
  /** The place that it runs in. */
  readonly place: string;
  readonly status: string;
  /** Envelopes in its mailbox. */
  readonly waiting: number;
  /** Envelopes that its handlers have begun, and that have no outcome yet. */
  readonly inHand: number;
  /** The actor's state, as `onStart` returned it. */
  readonly state: unknown;
}

/** The present state of a simulation. */
export interface SimulationView extends Totals {
  /** Virtual milliseconds since it began. */
  readonly nowMs: number;
  readonly steps: number;
  /** Times that the process was started. */
  readonly lives: number;
  /** Envelopes in the journal without an outcome. */
  readonly kept: number;
  /** How many times handlers have begun an envelope; each attempt counts. */
  readonly begun: number;
  /** Faults so far, by kind. */
  readonly faults: Readonly<FaultCounts>;
  readonly events: readonly SystemEvent[];
  readonly effects: readonly PerformedEffect[];
  agents(): readonly AgentView[];
  agent(id: string): AgentView | undefined;
}

/** Returns a sentence about what is wrong, or undefined. */
export type Invariant = (view: SimulationView) => string | undefined;

/** The controls that `run` gets beside the team. */
export interface SimulationControls {
  readonly view: SimulationView;
  /** The number of this process: 1, and one more after each `hostCrash`. */
  readonly life: number;
  /** The virtual clock of the embedder's thread. */
  readonly clock: Clock;
  /** A random number in [0, 1), by the seed. */
  random(): number;
  /** Resolves after `ms` virtual milliseconds. */
  sleep(ms: number): Promise<void>;
  /** Causes a fault now. Throws INVALID_OPTIONS for an unknown place. */
  cause(fault: Fault): void;
  /**
   * Makes a faulty link in virtual time, for media between machines: `overLink(medium, simulation.link())`. `faults` are
   * those of the link. @default `faults.link` of the simulation
   */
  link(faults?: LinkFaults): FaultyLink;
}

/** A fault that is caused now: a `PlannedFault` without `atMs`. */
export type Fault = PlannedFault extends infer Planned
  ? Planned extends unknown
    ? Omit<Planned, 'atMs'>
    : never
  : never;

/**
 * When a simulation ends: at a virtual time in milliseconds, or when a function returns true. It is called when only timers
 * are left.
 */
export type Until = number | ((view: SimulationView) => boolean);

/**
 * Options of `simulate`.
 *
 * - `agents`     agents of the team.
 * - `seed`       of all random decisions; the same seed gives the same run. @default 1
 * - `run`        the embedder's code, at each start of the process. The simulation ends when it has returned and nothing is
 *                in flight.
 * - `journal`    a journal on a simulated disk: `true`, or its options as in `startSystem`. @default none
 * - `until`      when the simulation ends instead. @default when `run` has returned and nothing is in flight
 * - `faults`     faults to inject. @default none
 * - `effects`    results of `ctx.effect(name, ...)`, by name. A missing one that is called fails the simulation.
 * - `effectMs`   range of an effect's time, virtual milliseconds. @default [0.1, 10]
 * - `offload`    results of `ctx.offload(module, input)`. @default the module runs for real while virtual time stands still
 * - `remembered` results of offloaded modules, by module and input; it can be shared by simulations.
 * - `invariants` checks beside those of the runtime.
 * - `checkEvery` steps between two checks. Checks also run at the end, and when only timers are left. @default 64
 * - `workers`    worker threads. @default 2
 * - `maxSteps`   steps after which it ends. @default 2,000,000
 * - `maxMs`      virtual milliseconds after which it ends. @default 3,600,000
 * - `keepsTrace` whether events are stored, or only hashed. @default true
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

/** The journal's options of `startSystem` without `path`. @default no history */
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

/** Parses the options. Throws INVALID_OPTIONS naming field and value; `root` is what the options are called. */
export function parseSimulateOptions<Team extends System>(options: SimulateOptions<Team>, root = 'options') {
  const parsed = parseOptions(Own, options as never, root);
  if (options.run !== undefined) requireFunction('run', options.run);
  const { journal } = parsed;
  if (journal === undefined) refuseDiskFaults(parsed.faults, root);
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

function refuseDiskFaults(faults: z.output<typeof Faults>, root: string): void {
  for (const kind of FAULTS_OF_DISKS)
    if (faults[kind] !== undefined)
      throw invalidOptions(`${root}.faults.${kind}`, faults[kind], 'nothing, without a journal');
  faults.planned.forEach(({ fault }, at) => {
    if (FAULTS_OF_DISKS.some((kind) => kind === fault))
      throw invalidOptions(`${root}.faults.planned.${at}.fault`, fault, 'one that needs no journal');
  });
}

export type ParsedSimulation<Team extends System> = ReturnType<typeof parseSimulateOptions<Team>>;

/** What of the options is one node's. */
export type NodeSettings<Team extends System> = Omit<
  ParsedSimulation<Team>,
  'agents' | 'until' | 'invariants' | 'checkEvery' | 'maxSteps' | 'maxMs' | 'policies'
> & { readonly among?: AmongNodes };
