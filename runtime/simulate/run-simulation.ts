import type { SystemEvent } from '../protocol/system-event.ts';
import type { System } from '../system/system.ts';
import type { FaultCounts } from './faults.ts';
import type { Totals } from './ledger-check.ts';
import type { PerformedEffect } from './simulated-outside.ts';
import type { ParsedSimulation, SimulationView } from './simulate-options.ts';
import type { FinalState, SimulationDeps } from './simulated-process.ts';
import { Invariants } from './invariants.ts';
import { SimulatedNode } from './simulated-node.ts';
import { type Ending, Simulation } from './simulation.ts';
import type { RosterRow } from '../protocol/roster.ts';

/**
 * Counts of a simulation. Envelopes in flight when the process was killed are accepted, and have no outcome here.
 *
 * - `steps`     steps taken.
 * - `virtualMs` virtual time that has passed, milliseconds.
 * - `begun`     how many times handlers have begun an envelope.
 * - `lives`     times that the process was started.
 * - `threads`   threads in all lives.
 * - `faults`    faults that occurred, by kind.
 */
export interface SimulationStats extends Totals {
  readonly steps: number;
  readonly virtualMs: number;
  readonly begun: number;
  readonly lives: number;
  readonly threads: number;
  readonly faults: Readonly<FaultCounts>;
}

/**
 * The result of a simulation.
 *
 * - `ending`     why it ended; `nothing-left` if there was nothing more to do.
 * - `violations` one sentence for each invariant that did not hold; empty if all did.
 * - `notes`      calls of agents that may make runs differ, each once: `mars called readFileSync at …`.
 * - `value`, `error` what `run` returned or threw.
 * - `finalState`    the state at the end, if it got that far.
 * - `traceHash`  SHA-256 over the codes, ids and virtual times of all events: the same for the same seed and agents.
 * - `trace()`    the events as text, in the format of docs/trace.md.
 */
export interface SimulationResult {
  readonly seed: number;
  readonly ending: Ending | 'nothing-left';
  readonly violations: readonly string[];
  readonly notes: readonly string[];
  readonly value: unknown;
  readonly error: unknown;
  readonly finalState: FinalState | undefined;
  readonly stats: SimulationStats;
  readonly traceHash: string;
  readonly events: readonly SystemEvent[];
  readonly effects: readonly PerformedEffect[];
  trace(): string;
}

/** Runs a team in virtual time. Rejects if it cannot be started, and with SIMULATION_ESCAPED. */
export async function runSimulation<Team extends System>(
  deps: SimulationDeps<Team>,
  options: ParsedSimulation<Team>,
): Promise<SimulationResult> {
  const { until } = options;
  const simulation = new Simulation<Team>(options, (world) => {
    const node = new SimulatedNode(world, deps, options);
    return {
      nodes: [node],
      invariants: new Invariants(node.checks, options.invariants, node.view),
      until: typeof until === 'function' ? () => until(node.view) : until,
    };
  });
  await simulation.run();
  const { scheduler } = simulation;
  const [node] = simulation.nodes as readonly [SimulatedNode<Team>];
  const { ledgers, faults, trace, outside, outcome, finalState, view } = node;
  return {
    seed: options.seed,
    ending: simulation.ending ?? 'nothing-left',
    violations: simulation.violations,
    notes: [...scheduler.notes],
    value: outcome !== undefined && 'value' in outcome ? outcome.value : undefined,
    error: outcome !== undefined && 'error' in outcome ? outcome.error : undefined,
    finalState,
    stats: {
      ...ledgers.totals,
      steps: scheduler.steps,
      virtualMs: scheduler.nowMs,
      begun: ledgers.begun,
      lives: node.lives,
      threads: simulation.threads,
      faults: { ...faults.counts },
    },
    traceHash: trace.hash(),
    events: trace.events,
    effects: outside.performed,
    trace: () =>
      traceText(view, { startedAtMs: scheduler.epochMs, seed: options.seed, roster: finalState?.roster }),
  };
}

interface TraceFacts {
  readonly startedAtMs: number;
  readonly seed: number;
  readonly roster: readonly RosterRow[] | undefined;
}

/** Writes the events as a trace (docs/trace.md): a header, then one event a line. */
export function traceText(
  { events }: Pick<SimulationView, 'events'>,
  { startedAtMs, seed, roster = [] }: TraceFacts,
): string {
  const agents = roster.map(({ id, name, tier, capabilities, place }) => ({
    id,
    name,
    tier,
    capabilities,
    place,
  }));
  const header = { format: 'orrery-trace', version: 1, startedAtMs, simulated: { seed }, agents };
  return `${[header, ...events].map((line) => JSON.stringify(line)).join('\n')}\n`;
}
