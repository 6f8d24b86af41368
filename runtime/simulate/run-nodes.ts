import { createHash } from 'node:crypto';
import type { SystemEvent } from '../protocol/system-event.ts';
import type { Transport } from '../protocol/transport.ts';
import type { PeerOptions } from '../system/peer-options.ts';
import type { System } from '../system/system.ts';
import type { FaultCounts } from './faults.ts';
import { type Check, Invariants } from './invariants.ts';
import type { Totals } from './ledger-check.ts';
import type { NetworkCounts } from './network-faults.ts';
import { NodesCheck } from './nodes-check.ts';
import { traceText } from './run-simulation.ts';
import type { Scheduler } from './scheduler.ts';
import type { NodesView, ParsedNode, ParsedNodes } from './simulate-nodes-options.ts';
import { simulatedKey } from './simulated-key.ts';
import { addressOf, SIMULATED_TRANSPORT, SimulatedNetwork } from './simulated-network.ts';
import { SimulatedNode, type World } from './simulated-node.ts';
import type { PerformedEffect } from './simulated-outside.ts';
import type { FinalState, SimulationDeps } from './simulated-process.ts';
import { type Ending, EPOCH_MS, Simulation } from './simulation.ts';

/** Counts of a node, as those of a simulation of one. */
export interface NodeStats extends Totals {
  readonly begun: number;
  readonly lives: number;
  readonly threads: number;
  readonly faults: Readonly<FaultCounts>;
}

/** What came of one node; the members mean what those of `SimulationResult` do. */
export interface NodeResult {
  readonly value: unknown;
  readonly error: unknown;
  readonly finalState: FinalState | undefined;
  readonly stats: NodeStats;
  readonly events: readonly SystemEvent[];
  readonly effects: readonly PerformedEffect[];
  trace(): string;
}

/**
 * The result of a simulation of several nodes.
 *
 * - `ending`     why it ended; `nothing-left` if there was nothing more to do.
 * - `violations` one sentence for each invariant that did not hold, with the node's name where it is one node's.
 * - `nodes`      what came of each, by name.
 * - `network`    what the network has done.
 * - `traceHash`  SHA-256 over the traces of all nodes: the same for the same seed and agents.
 */
export interface NodesResult {
  readonly seed: number;
  readonly ending: Ending | 'nothing-left';
  readonly violations: readonly string[];
  readonly notes: readonly string[];
  readonly nodes: Readonly<Record<string, NodeResult>>;
  readonly network: Readonly<NetworkCounts>;
  readonly steps: number;
  readonly virtualMs: number;
  readonly traceHash: string;
}

/** Runs several nodes in virtual time. `depsOf` has what each is made of. Rejects as `runSimulation`. */
export async function runNodes<Team extends System>(
  depsOf: ReadonlyMap<string, SimulationDeps<Team>>,
  options: ParsedNodes<Team>,
): Promise<NodesResult> {
  const nodes = new Map<string, SimulatedNode<Team>>();
  const simulation = new Simulation<Team>(options, (world) => {
    const check = new NodesCheck();
    const network = networkOf(world, nodes, options);
    for (const one of options.nodes) {
      const deps = depsOf.get(one.name) as SimulationDeps<Team>;
      nodes.set(one.name, newNode(one, { world, network, check, deps, seed: options.seed }));
    }
    const view = viewOf(world.scheduler, network, nodes);
    const { until, invariants } = options;
    return {
      nodes: [...nodes.values()],
      network,
      invariants: new Invariants([check, ...checksOf(nodes)], invariants, view),
      until: typeof until === 'function' ? () => until(view) : until,
    };
  });
  await simulation.run();
  const { scheduler, network } = simulation;
  return {
    seed: options.seed,
    ending: simulation.ending ?? 'nothing-left',
    violations: simulation.violations,
    notes: [...scheduler.notes],
    nodes: Object.fromEntries([...nodes].map(([name, node]) => [name, resultOf(node, options.seed)])),
    network: { ...(network as SimulatedNetwork).counts },
    steps: scheduler.steps,
    virtualMs: scheduler.nowMs,
    traceHash: hashOf(nodes),
  };
}

function networkOf<Team extends System>(
  world: World,
  nodes: ReadonlyMap<string, SimulatedNode<Team>>,
  { seed, network, nodes: parsed }: ParsedNodes<Team>,
): SimulatedNetwork {
  const note = (about: readonly string[], reason: string): void => {
    for (const name of about) nodes.get(name)?.note({ type: 'fault', reason });
  };
  const names = parsed.map(({ name }) => name);
  return new SimulatedNetwork({ ...world, nodes: names, note }, { seed, options: network });
}

/** What a node is in. */
interface NodeSurroundings<Team extends System> {
  readonly world: World;
  readonly network: SimulatedNetwork;
  readonly check: NodesCheck;
  readonly deps: SimulationDeps<Team>;
  readonly seed: number;
}

function newNode<Team extends System>(
  { name, run, settings, trust, dial, channel }: ParsedNode<Team>,
  { world, network, check, deps, seed }: NodeSurroundings<Team>,
): SimulatedNode<Team> {
  const peers: PeerOptions = {
    // Only what it says of itself crosses to the thread that makes it.
    transports: [{ spec: SIMULATED_TRANSPORT } as Transport],
    identity: { node: name, key: simulatedKey(seed, name) },
    trust: trust.map(({ node, ...grant }) => ({ ...grant, node, key: simulatedKey(seed, node).publicKey })),
    discover: { dial: dial.map(addressOf) },
    ...(channel && { channel }),
  };
  return new SimulatedNode(world, deps, {
    ...settings,
    peers,
    run: run && ((team, controls) => run(team, { ...controls, network })),
    among: {
      transportsOf: (thread) => async () => network.transport(name, thread),
      began: (cell, mail) => check.began(name, cell, mail),
      handled: (mail) => check.handled(mail),
    },
  });
}

const checksOf = <Team extends System>(nodes: ReadonlyMap<string, SimulatedNode<Team>>): Check[] =>
  [...nodes].flatMap(([name, { checks }]) => checks.map((check) => named(name, check)));

/** A check whose violations say of which node they are. */
function named(name: string, check: Check): Check {
  return {
    get violations() {
      return check.violations.map((violation) => `${name}: ${violation}`);
    },
    check: () => check.check?.(),
  };
}

function viewOf<Team extends System>(
  scheduler: Scheduler,
  { counts }: SimulatedNetwork,
  nodes: ReadonlyMap<string, SimulatedNode<Team>>,
): NodesView {
  return {
    get nowMs() {
      return scheduler.nowMs;
    },
    get steps() {
      return scheduler.steps;
    },
    network: counts,
    nodes: Object.fromEntries([...nodes].map(([name, { view }]) => [name, view])),
  };
}

function resultOf<Team extends System>(node: SimulatedNode<Team>, seed: number): NodeResult {
  const { outcome, finalState, ledgers, faults, trace, outside, threads } = node;
  return {
    value: outcome !== undefined && 'value' in outcome ? outcome.value : undefined,
    error: outcome !== undefined && 'error' in outcome ? outcome.error : undefined,
    finalState,
    stats: {
      ...ledgers.totals,
      begun: ledgers.begun,
      lives: node.lives,
      threads: threads.all.length,
      faults: { ...faults.counts },
    },
    events: trace.events,
    effects: outside.performed,
    trace: () => traceText(trace, { startedAtMs: EPOCH_MS, seed, roster: finalState?.roster }),
  };
}

function hashOf<Team extends System>(nodes: ReadonlyMap<string, SimulatedNode<Team>>): string {
  const hash = createHash('sha256');
  for (const [name, { trace }] of nodes) hash.update(`${name} ${trace.hash()}\n`);
  return hash.digest('hex');
}
