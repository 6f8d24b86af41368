import { z } from 'zod';
import type { Trust } from '../peers/trust.ts';
import { NodeId } from '../protocol/a2a-extension.ts';
import { invalidOptions } from '../protocol/errors.ts';
import { parseOptions, requireFunction } from '../protocol/parse-options.ts';
import type { PeerOptions } from '../system/peer-options.ts';
import type { System } from '../system/system.ts';
import { Chance } from './chance.ts';
import type { InvariantOf } from './invariants.ts';
import { type NetworkCounts, NetworkOptions } from './network-faults.ts';
import {
  type NodeSettings,
  parseSimulateOptions,
  type SimulateOptions,
  type SimulationControls,
  type SimulationView,
} from './simulate-options.ts';
import type { NetworkControls } from './simulated-network.ts';

/** The controls that the `run` of a node gets. `view` and `cause` are of that node. */
export interface NodeControls extends SimulationControls {
  readonly network: NetworkControls;
}

/** Whom a node lets in: as in `startSystem`, but by the name of a node instead of its key. */
export type NodeTrust = Omit<z.input<typeof Trust>, 'key' | 'node'> & { readonly node: string };

/**
 * How a node reaches others.
 *
 * - `trust`   whom it lets in. @default all other nodes, at tier 2 and in no sandbox
 * - `dial`    the nodes that it dials. @default all others, so that any two dial each other at once
 * - `channel` as in `startSystem`.
 */
export interface NodePeers {
  readonly trust?: readonly NodeTrust[];
  readonly dial?: readonly string[];
  readonly channel?: PeerOptions['channel'];
}

/** A node of a simulation. What `simulate` has too means the same. `hostCrash` is the kill of this node; it keeps its key. */
export interface SimulatedNodeOptions<Team extends System = System>
  extends Pick<
    SimulateOptions<Team>,
    | 'agents'
    | 'journal'
    | 'faults'
    | 'effects'
    | 'offload'
    | 'workers'
    | 'supervision'
    | 'broadcastToSender'
    | 'watchdog'
  > {
  /** What this node's program does, at each start of its process. */
  readonly run?: (team: Team, simulation: NodeControls) => unknown;
  readonly peers?: NodePeers;
}

/** The present state of a simulation of several nodes. */
export interface NodesView {
  /** Virtual milliseconds since it began. */
  readonly nowMs: number;
  readonly steps: number;
  readonly network: Readonly<NetworkCounts>;
  /** By name. */
  readonly nodes: Readonly<Record<string, SimulationView>>;
}

/**
 * Options of `simulate` with several nodes, each of which is a system of its own. What one node has too means the same.
 *
 * - `nodes`      by name. They trust and dial each other if nothing else is said.
 * - `network`    what goes wrong between them. @default nothing; a frame takes 1 to 40 ms
 * - `until`      when the simulation ends. @default when `run` of all nodes has returned and nothing is in flight
 * - `invariants` checks beside those of the runtime.
 */
export interface SimulateNodesOptions<Team extends System = System>
  extends Pick<
    SimulateOptions<Team>,
    'seed' | 'effectMs' | 'remembered' | 'checkEvery' | 'maxSteps' | 'maxMs' | 'keepsTrace' | 'cpu'
  > {
  readonly nodes: Readonly<Record<string, SimulatedNodeOptions<Team>>>;
  readonly network?: NetworkOptions;
  readonly until?: number | ((view: NodesView) => boolean);
  readonly invariants?: readonly InvariantOf<NodesView>[];
}

const isFunction = (value: unknown): boolean => typeof value === 'function';
const callable = z.custom<(...given: never[]) => unknown>(isFunction, 'a function');

const Own = z.strictObject({
  nodes: z
    .record(NodeId, z.looseObject({}))
    .refine((nodes) => Object.keys(nodes).length > 0, 'at least one node'),
  network: NetworkOptions.prefault({}),
  seed: z.int().default(1),
  until: z.union([z.number().nonnegative(), callable]).optional(),
  invariants: z.array(callable).default([]),
  effectMs: z.unknown().optional(),
  remembered: z.unknown().optional(),
  keepsTrace: z.unknown().optional(),
  checkEvery: z.int().positive().default(64),
  maxSteps: z.int().positive().default(2_000_000),
  maxMs: z.number().positive().default(3_600_000),
  cpu: z.unknown().optional(),
  policies: z.unknown().optional(),
});

const Peers = z.strictObject({
  trust: z.array(z.looseObject({ node: NodeId })).optional(),
  dial: z.array(NodeId).optional(),
  channel: z.unknown().optional(),
});

/** A node with its options parsed. */
export interface ParsedNode<Team extends System> {
  readonly name: string;
  readonly agents: SimulatedNodeOptions<Team>['agents'];
  readonly run: SimulatedNodeOptions<Team>['run'];
  readonly settings: Omit<NodeSettings<Team>, 'run' | 'peers'>;
  readonly trust: readonly NodeTrust[];
  readonly dial: readonly string[];
  readonly channel: PeerOptions['channel'] | undefined;
}

/** Parses the options. Throws INVALID_OPTIONS naming field and value. */
export function parseSimulateNodesOptions<Team extends System>(options: SimulateNodesOptions<Team>) {
  const { seed, network, checkEvery, maxSteps, maxMs } = parseOptions(Own, options as never, 'options');
  const { until, invariants = [], effectMs, remembered, cpu, keepsTrace } = options;
  const shared = {
    ...(effectMs && { effectMs }),
    ...(remembered && { remembered }),
    ...(cpu && { cpu }),
    ...(keepsTrace === undefined ? {} : { keepsTrace }),
  };
  const names = Object.keys(options.nodes);
  const nodes = Object.entries(options.nodes).map(([name, { run, peers = {}, ...own }]): ParsedNode<Team> => {
    const field = `options.nodes.${name}`;
    if (run !== undefined) requireFunction(`${field}.run`, run);
    const nodeSeed = Math.floor(new Chance(seed, `node ${name}`).next() * 2 ** 31);
    const settings = parseSimulateOptions<Team>({ ...own, ...shared, seed: nodeSeed }, field);
    const { agents } = own;
    return { name, agents, run, settings, ...peersOf(names, name, peers) };
  });
  return { seed, network, checkEvery, maxSteps, maxMs, until, invariants, nodes };
}

export type ParsedNodes<Team extends System> = ReturnType<typeof parseSimulateNodesOptions<Team>>;

/** Whom a node trusts and dials. */
function peersOf(names: readonly string[], self: string, peers: NodePeers) {
  const field = `options.nodes.${self}.peers`;
  parseOptions(Peers, peers, field);
  const others = names.filter((name) => name !== self);
  const { dial = others, channel } = peers;
  const trust = peers.trust ?? others.map((node) => ({ node, tier: 2 as const, sandboxId: null }));
  const named = [...trust.map(({ node }) => node), ...dial];
  const unknown = named.find((node) => !others.includes(node));
  if (unknown !== undefined) throw invalidOptions(field, unknown, 'the names of other nodes');
  return { trust, dial, channel };
}
