import type { z } from 'zod';
import { cancelled, invalidOptions } from '../protocol/errors.ts';
import {
  type Connection,
  type Listener,
  type Transport,
  type TransportSpec,
  unreachable,
} from '../protocol/transport.ts';
import { Chance } from './chance.ts';
import {
  type NetworkCounts,
  type NetworkOptions,
  noNetworkCounts,
  type PlannedNetworkFault,
} from './network-faults.ts';
import type { Scheduler } from './scheduler.ts';
import { type Carrier, type EndPlace, MAX_FRAME_BYTES, SimulatedConnection } from './simulated-connection.ts';
import type { VirtualThread } from './virtual-thread.ts';

/** How long an attempt to connect is made where nothing answers, virtual milliseconds. */
const DIAL_MS = [1_000, 5_000] as const;
/** How often a thread that ends takes the word of its end along, as when a machine loses power. */
const SILENT_ENDS = 0.25;
/** How often an end is not told that its connection was cut. */
const SILENT_CUTS = 0.5;

/** Where others find a node of a simulation. */
export const addressOf = (node: string): string => `ws://${node}`;

/** Stands for the module of a simulation's transports, which nobody imports. */
export const SIMULATED_TRANSPORT: TransportSpec = {
  module: 'simulated:network',
  make: 'transport',
  options: {},
};

export interface SimulatedNetworkDeps {
  readonly scheduler: Scheduler;
  /** The thread for the simulation's own steps. */
  readonly stage: VirtualThread;
  readonly nodes: readonly string[];
  readonly note: (nodes: readonly string[], reason: string) => void;
}

interface TakenAddress extends EndPlace {
  readonly onConnection: (connection: Connection) => void;
}

interface Partition {
  readonly groups: readonly (readonly string[])[];
}

/** What `run` may do to the network. Throws INVALID_OPTIONS for an unknown node. */
export interface NetworkControls {
  readonly counts: Readonly<NetworkCounts>;
  /** Ends all connections between two nodes. */
  cut(one: string, other: string): void;
  /** Holds back what goes from one node to another for `ms` virtual milliseconds. */
  stall(from: string, to: string, ms: number): void;
  /** Lets nothing get from one group of nodes to another, until `heal`. Nodes in no group are one more. */
  part(groups: readonly (readonly string[])[]): void;
  /** Ends all partitions. */
  heal(): void;
}

/** A network between the nodes of a simulation: it delays, stalls, cuts and parts, by the seed. */
export class SimulatedNetwork implements NetworkControls {
  readonly counts = noNetworkCounts();
  readonly #deps: SimulatedNetworkDeps;
  readonly #options: z.output<typeof NetworkOptions>;
  readonly #chance: Chance;
  readonly #carrier: Carrier;
  readonly #listeners = new Map<string, TakenAddress>();
  readonly #ends = new Set<SimulatedConnection>();
  readonly #watched = new WeakSet<VirtualThread>();
  readonly #stalled = new Map<string, number>();
  readonly #partitions = new Set<Partition>();
  #isCalm = false;

  constructor(
    deps: SimulatedNetworkDeps,
    { seed, options }: { readonly seed: number; readonly options: z.output<typeof NetworkOptions> },
  ) {
    this.#deps = deps;
    this.#options = options;
    this.#chance = new Chance(seed, 'network');
    this.#carrier = {
      scheduler: deps.scheduler,
      delayMs: () => this.#delayMs(),
      isOpen: (from, to) => this.#isOpen(from, to),
      onSend: (end) => this.#onSend(end),
      counts: this.counts,
      onOver: (end) => this.#ends.delete(end),
    };
    for (const fault of options.planned) {
      for (const node of nodesOf(fault)) this.#require(node);
      deps.scheduler.schedule(deps.stage, fault.atMs, () => this.#isCalm || this.#cause(fault), true);
    }
  }

  /** The transport of a node, in one of its threads. */
  transport(node: string, thread: VirtualThread): Transport {
    return {
      kind: 'websocket',
      maxFrameBytes: MAX_FRAME_BYTES,
      spec: SIMULATED_TRANSPORT,
      connect: (address, options) => this.#connect({ node, thread }, address, options?.signal),
      listen: (onConnection) => this.#listen({ node, thread, onConnection }),
    };
  }

  /** Nothing goes wrong from now on. */
  calm(): void {
    this.#isCalm = true;
    this.#stalled.clear();
    this.heal();
  }

  cut(one: string, other: string): void {
    for (const node of [one, other]) this.#require(node);
    const ends = [...this.#ends].filter(
      ({ place, peer }) => place.node === one && peer !== undefined && peer.place.node === other,
    );
    for (const end of ends) this.#cut(end);
  }

  stall(from: string, to: string, ms: number): void {
    for (const node of [from, to]) this.#require(node);
    if (typeof ms !== 'number' || !(ms > 0)) throw invalidOptions('ms', ms, 'a number of milliseconds');
    const { scheduler, stage, note } = this.#deps;
    const key = linkKey(from, to);
    const untilMs = Math.max(this.#stalled.get(key) ?? 0, scheduler.nowMs + ms);
    this.counts.stall += 1;
    this.#stalled.set(key, untilMs);
    note([from, to], `nothing gets from ${from} to ${to} for a while`);
    scheduler.schedule(stage, untilMs, () => this.#pumpAll(), true);
  }

  part(groups: readonly (readonly string[])[]): void {
    this.#part(groups);
  }

  heal(): void {
    if (this.#partitions.size > 0) this.#deps.note(this.#deps.nodes, 'the network is whole again');
    this.#partitions.clear();
    this.#pumpAll();
  }

  #cause(fault: PlannedNetworkFault): void {
    if (fault.fault === 'cut') this.cut(...fault.between);
    else if (fault.fault === 'stall') this.stall(fault.from, fault.to, fault.ms);
    else if (fault.fault === 'partition') this.#part(fault.groups, fault.ms);
    else this.heal();
  }

  #part(groups: readonly (readonly string[])[], ms?: number): void {
    for (const node of groups.flat()) this.#require(node);
    const { scheduler, stage, note, nodes } = this.#deps;
    const partition = { groups };
    this.counts.partition += 1;
    this.#partitions.add(partition);
    const text = groups.map((group) => group.join(' and ')).join(', from ');
    note(nodes, `nothing gets from ${text}${groups.length === 1 ? ' to others' : ''}, nor back`);
    if (ms === undefined) return;
    scheduler.schedule(
      stage,
      scheduler.nowMs + ms,
      () => {
        if (!this.#partitions.delete(partition)) return;
        note(nodes, 'a partition is over');
        this.#pumpAll();
      },
      true,
    );
  }

  #pumpAll(): void {
    for (const end of this.#ends) end.pump();
  }

  #isOpen(from: string, to: string): boolean {
    if ((this.#stalled.get(linkKey(from, to)) ?? 0) > this.#deps.scheduler.nowMs) return false;
    for (const { groups } of this.#partitions)
      if (groupOf(groups, from) !== groupOf(groups, to)) return false;
    return true;
  }

  #delayMs(): number {
    const [least, most] = this.#options.delayMs;
    return this.#chance.between(least, most);
  }

  #onSend(end: SimulatedConnection): void {
    const { cut, stall, partition } = this.#options;
    const { node: from } = end.place;
    const to = end.peer?.place.node;
    if (to === undefined || end.isOver || this.#isCalm) return;
    if (stall !== undefined && this.#happens('stall', stall))
      this.stall(from, to, this.#chance.between(...stall.ms));
    if (partition !== undefined && this.#happens('partition', partition)) {
      const group = this.#deps.nodes.filter(() => this.#chance.isTrue(0.5));
      this.#part([group.length === 0 ? [from] : group], this.#chance.between(...partition.ms));
    }
    if (cut !== undefined && this.#happens('cut', cut)) this.#cut(end);
  }

  #happens(
    kind: 'cut' | 'stall' | 'partition',
    { probability, most }: { readonly probability: number; readonly most: number },
  ): boolean {
    return this.counts[kind] < most && this.#chance.isTrue(probability);
  }

  #cut(end: SimulatedConnection): void {
    const { peer } = end;
    if (peer === undefined) return;
    this.counts.cut += 1;
    this.#deps.note(
      [end.place.node, peer.place.node],
      `a connection between ${end.place.node} and ${peer.place.node} is cut`,
    );
    for (const one of [end, peer]) {
      if (one.isOver) continue;
      one.die();
      if (this.#chance.isTrue(SILENT_CUTS)) continue;
      const { thread } = one.place;
      const { scheduler } = this.#deps;
      scheduler.schedule(thread, scheduler.nowMs + this.#delayMs(), () => one.lose('it was cut'));
    }
  }

  async #listen(at: TakenAddress): Promise<Listener> {
    const address = addressOf(at.node);
    if (this.#listeners.has(address))
      throw invalidOptions('transport.address', address, 'an address at which nobody listens yet');
    this.#listeners.set(address, at);
    this.#watch(at.thread);
    return {
      address,
      close: async () => {
        if (this.#listeners.get(address) === at) this.#listeners.delete(address);
      },
    };
  }

  #connect(from: EndPlace, address: string, signal: AbortSignal | undefined): Promise<Connection> {
    const { scheduler } = this.#deps;
    const { refuse } = this.#options;
    const { thread } = from;
    this.counts.dialled += 1;
    this.#watch(thread);
    return new Promise((resolve, reject) => {
      let isOver = false;
      const give = (settle: () => void): void => {
        if (isOver) return;
        isOver = true;
        signal?.removeEventListener('abort', abort);
        settle();
      };
      const abort = (): void => give(() => reject(cancelled(`Connecting to "${address}"`)));
      const fail = (reason: string, afterMs: number): void => {
        this.counts.refused += 1;
        scheduler.schedule(thread, thread.localMs + afterMs, () =>
          give(() => reject(unreachable(address, reason))),
        );
      };
      if (signal?.aborted === true) return abort();
      signal?.addEventListener('abort', abort, { once: true });
      const isRefused = !this.#isCalm && refuse !== undefined && this.counts.refused < refuse.most;
      if (isRefused && this.#chance.isTrue(refuse.probability))
        return fail('it was refused', this.#delayMs());
      const listener = this.#listeners.get(address);
      const to = listener?.node ?? address.slice(addressOf('').length);
      if (!this.#isOpen(from.node, to) || !this.#isOpen(to, from.node))
        return fail('nothing answers', this.#chance.between(...DIAL_MS));
      if (listener === undefined) return fail('nobody listens there', this.#delayMs());
      const arrivesMs = thread.localMs + this.#delayMs();
      scheduler.schedule(listener.thread, arrivesMs, () => {
        if (isOver || this.#listeners.get(address) !== listener) return;
        const near = this.#join(from, listener);
        scheduler.schedule(thread, listener.thread.localMs + this.#delayMs(), () => {
          if (isOver) void near.close();
          else give(() => resolve(near));
        });
      });
    });
  }

  /** Opens a connection; called in the listener's thread. */
  #join(from: EndPlace, { onConnection, node, thread }: TakenAddress): SimulatedConnection {
    const near = new SimulatedConnection(this.#carrier, from);
    const far = new SimulatedConnection(this.#carrier, { node, thread });
    near.peer = far;
    far.peer = near;
    this.#ends.add(near).add(far);
    this.counts.connected += 1;
    onConnection(far);
    return near;
  }

  /** Ends what a thread has on the network when it ends. */
  #watch(thread: VirtualThread): void {
    if (this.#watched.has(thread)) return;
    this.#watched.add(thread);
    thread.onOver.push(() => {
      for (const [address, at] of this.#listeners) if (at.thread === thread) this.#listeners.delete(address);
      for (const end of [...this.#ends]) {
        if (end.place.thread !== thread) continue;
        end.threadOver(this.#chance.isTrue(SILENT_ENDS));
        this.#ends.delete(end);
      }
    });
  }

  #require(node: string): void {
    if (!this.#deps.nodes.includes(node)) throw invalidOptions('node', node, 'the name of a node');
  }
}

const linkKey = (from: string, to: string): string => `${from}>${to}`;
const groupOf = (groups: readonly (readonly string[])[], node: string): number =>
  groups.findIndex((group) => group.includes(node));

function nodesOf(fault: PlannedNetworkFault): readonly string[] {
  if (fault.fault === 'cut') return fault.between;
  if (fault.fault === 'stall') return [fault.from, fault.to];
  return fault.fault === 'partition' ? fault.groups.flat() : [];
}
