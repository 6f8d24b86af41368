// Imported here what a running system loads on first use: loading takes real time.
import './runtime/journal/journal-host.ts';
import './runtime/peers/open-peer-host.ts';
import './actors/negotiator/capability-handlers.ts';
import { agentInterceptors } from './actors/interceptors.ts';
import { type Cooperating, withCooperation } from './actors/cooperation.ts';
import { coordinatorIfAny } from './actors/swarm/agent-swarms.ts';
import { SwarmCheck } from './actors/swarm/swarm-check.ts';
import { loadPolicies, type PolicyOptions } from './policies/index.ts';
import type { System } from './runtime/system/system.ts';
import { requireOptions } from './runtime/system/system-options.ts';
import {
  type Failure,
  type FindFailureOptions as FindFailureOptionsOf,
  findFailureWith,
} from './runtime/simulate/find-failure.ts';
import { runSimulation, type SimulationResult } from './runtime/simulate/run-simulation.ts';
import { type NodesResult, runNodes } from './runtime/simulate/run-nodes.ts';
import {
  parseSimulateNodesOptions,
  type SimulateNodesOptions as SimulateNodesOptionsOf,
} from './runtime/simulate/simulate-nodes-options.ts';
import {
  parseSimulateOptions,
  type SimulateOptions as SimulateOptionsOf,
} from './runtime/simulate/simulate-options.ts';
import { loadAgents } from './runtime/simulate/simulated-agents.ts';
import type { ClientCheck, SimulationDeps } from './runtime/simulate/simulated-process.ts';

export type { Command } from './runtime/simulate/shorten.ts';
export type {
  BreakingCommand,
  CommandKind,
  Failure,
} from './runtime/simulate/find-failure.ts';
export {
  FaultyLink,
  type FaultyLinkDeps,
  type LinkCounts,
  LinkFaults,
  overLink,
} from './runtime/simulate/faulty-link.ts';
export { type FaultCounts, Faults, PlannedFault } from './runtime/simulate/faults.ts';
export {
  NetworkOptions,
  type NetworkCounts,
  PlannedNetworkFault,
} from './runtime/simulate/network-faults.ts';
export type { NodeResult, NodesResult, NodeStats } from './runtime/simulate/run-nodes.ts';
export type {
  NodeControls,
  NodePeers,
  NodesView,
  NodeTrust,
  SimulatedNodeOptions,
} from './runtime/simulate/simulate-nodes-options.ts';
export type { NetworkControls } from './runtime/simulate/simulated-network.ts';
export type { SimulationResult, SimulationStats } from './runtime/simulate/run-simulation.ts';
export type { FinalState } from './runtime/simulate/simulated-process.ts';
export type { Ending } from './runtime/simulate/simulation.ts';
export type {
  AgentView,
  Invariant,
  SimulatedAgent,
  SimulationControls,
  SimulationView,
  Until,
} from './runtime/simulate/simulate-options.ts';
export type {
  PerformedEffect,
  ReachedBy,
  SimulatedEffect,
  SimulatedOffload,
} from './runtime/simulate/simulated-outside.ts';

/** A running team in a simulation, with the members that `startSystem` returns. */
export interface SimulatedTeam extends System, Cooperating {
  readonly loop: Cooperating['loop'];
}

/** Options of `simulate`. Those that `startSystem` has too mean the same. */
export interface SimulateOptions extends SimulateOptionsOf<SimulatedTeam> {
  readonly policies?: PolicyOptions;
}

/** Options of `simulate` with several nodes. All have the same `policies`. */
export interface SimulateNodesOptions extends SimulateNodesOptionsOf<SimulatedTeam> {
  readonly policies?: PolicyOptions;
}

/**
 * Runs a team in virtual time, under faults. Cells, mailboxes, codec, policies, supervisor, negotiator and swarms are those
 * of a running system; only the threads are virtual. The same seed gives the same run.
 *
 * With `nodes`, several systems are simulated, and a network between them that delays, stalls, cuts and parts.
 *
 * Rejects with INVALID_OPTIONS naming field and value, with MODULE_INVALID, and with SIMULATION_ESCAPED if an agent's code
 * waits for something outside its context. Any other failure is in the result.
 */
export function simulate(options: SimulateOptions): Promise<SimulationResult>;
export function simulate(options: SimulateNodesOptions): Promise<NodesResult>;
export async function simulate(
  options: SimulateOptions | SimulateNodesOptions,
): Promise<SimulationResult | NodesResult> {
  const { policies = {} } = requireOptions(options);
  if ('nodes' in options) {
    const parsed = parseSimulateNodesOptions<SimulatedTeam>(options);
    const deps = new Map<string, SimulationDeps<SimulatedTeam>>();
    for (const { name, agents, settings } of parsed.nodes)
      deps.set(name, await depsOf(agents, { policies, isKept: settings.journal !== undefined }));
    return runNodes(deps, parsed);
  }
  const parsed = parseSimulateOptions<SimulatedTeam>(options);
  const isKept = parsed.journal !== undefined;
  return runSimulation(await depsOf(options.agents, { policies, isKept }), parsed);
}

/** What one system of a simulation is made of. */
async function depsOf(
  agents: SimulateOptions['agents'],
  { policies, isKept }: { readonly policies: PolicyOptions; readonly isKept: boolean },
): Promise<SimulationDeps<SimulatedTeam>> {
  return {
    policies: await loadPolicies(policies),
    workerOptions: policies,
    interceptors: agentInterceptors,
    embed: (system, seams) => withCooperation(system, { seams, isKept }),
    clientChecks: [clientCheck()],
    agents: await loadAgents(agents),
  };
}

/** Checks the swarms of all agents. */
function clientCheck(): ClientCheck {
  const swarms = new SwarmCheck();
  return {
    violations: swarms.violations,
    see: (client) => {
      const coordinator = coordinatorIfAny(client);
      for (const session of coordinator?.listSwarms() ?? []) swarms.see(session, coordinator as object);
    },
  };
}

/** Options of `findFailure`. `simulation` makes the options of each run anew. */
export interface FindFailureOptions<Inputs extends Record<string, unknown>>
  extends Omit<FindFailureOptionsOf<SimulatedTeam, Inputs>, 'simulation'> {
  readonly simulation: () => Omit<SimulateOptions, 'run' | 'seed'>;
}

/**
 * Runs random lists of commands, made by fast-check, until a simulation fails; then shortens the list. Resolves to undefined
 * if no run fails.
 *
 * Rejects with PEERS_MISSING if fast-check is not installed, and as `simulate` does for wrong options.
 */
export const findFailure = <Inputs extends Record<string, unknown>>(
  options: FindFailureOptions<Inputs>,
): Promise<Failure | undefined> => findFailureWith(simulate, options);
