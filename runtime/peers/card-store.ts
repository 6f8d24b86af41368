import type { AgentCard } from '../protocol/agent-card.ts';
import { CardIndex } from './card-index.ts';
import type { CardVersion } from './card-version.ts';
import type { SignedCard } from './signed-card.ts';

/**
 * What is held of one agent.
 *
 * - `name`       `<nodeId>/<agentId>`.
 * - `bytes`      of the signed card as JSON; of one that has expired, what it counts.
 * - `forgetAtMs` until then its version is remembered, so that no older card of the agent comes back.
 * - `signed`     absent when it has expired.
 * - `card`       absent when it is withdrawn or has expired.
 */
export interface HeldCard {
  readonly name: string;
  readonly nodeId: string;
  readonly agentId: string;
  readonly version: CardVersion;
  readonly bytes: number;
  readonly expiresAtMs: number;
  readonly forgetAtMs: number;
  readonly signed: SignedCard | undefined;
  readonly card: AgentCard | undefined;
}

/**
 * - `broughtBy`  the peer that its cards are counted for: itself if it brought one, else who brought the first.
 * - `forgetAtMs` until then the name is its key's, and its former runs are over.
 */
export interface HeldNode {
  readonly nodeId: string;
  readonly publicKey: string;
  readonly broughtBy: string;
  readonly bootEpoch: number;
  readonly forgetAtMs: number;
  readonly bytes: number;
  readonly names: ReadonlySet<string>;
}

/** The most that an expired card counts. */
const REMEMBERED_BYTES = 512;

interface Node extends HeldNode {
  broughtBy: string;
  bootEpoch: number;
  forgetAtMs: number;
  bytes: number;
  readonly names: Set<string>;
}

/** What is here because one peer brought it. */
interface Brought {
  readonly nodes: number;
  readonly bytes: number;
}

const NOTHING: Brought = { nodes: 0, bytes: 0 };

/** Holds cards by name, agent, capability and node, and counts them. It judges nothing. */
export class CardStore {
  readonly #cards = new Map<string, HeldCard>();
  readonly #nodes = new Map<string, Node>();
  readonly #byAgent = new CardIndex();
  readonly #byCapability = new CardIndex();
  readonly #brought = new Map<string, Brought>();
  readonly #sorted: string[] = [];
  #bytes = 0;

  get bytes(): number {
    return this.#bytes;
  }

  get size(): number {
    return this.#cards.size;
  }

  get nodeCount(): number {
    return this.#nodes.size;
  }

  get(name: string): HeldCard | undefined {
    return this.#cards.get(name);
  }

  node(nodeId: string): HeldNode | undefined {
    return this.#nodes.get(nodeId);
  }

  /** In the order in which they came. */
  nodes(): readonly HeldNode[] {
    return [...this.#nodes.values()];
  }

  /** What is here because this peer brought it. */
  broughtBy(peer: string): Brought {
    return this.#brought.get(peer) ?? NOTHING;
  }

  namesOfAgent(agentId: string): Iterable<string> {
    return this.#byAgent.get(agentId);
  }

  namesWithCapability(capabilityId: string): Iterable<string> {
    return this.#byCapability.get(capabilityId);
  }

  /** All names by their code units, behind `after` and up to `through`. */
  *namesBetween(after: string | undefined, through: string | undefined): Iterable<string> {
    for (let at = firstBehind(this.#sorted, after); at < this.#sorted.length; at++) {
      const name = this.#sorted[at] as string;
      if (through !== undefined && name > through) return;
      yield name;
    }
  }

  /** Adds the card, or replaces that of the same name. The node is added with its first card. */
  put(held: HeldCard, { publicKey, broughtBy }: Pick<HeldNode, 'publicKey' | 'broughtBy'>): void {
    const node = this.#nodes.get(held.nodeId) ?? this.#addNode(held.nodeId, publicKey, broughtBy);
    if (broughtBy === publicKey) this.#countFor(node, broughtBy);
    node.bootEpoch = Math.max(node.bootEpoch, held.version.bootEpoch);
    node.forgetAtMs = Math.max(node.forgetAtMs, held.forgetAtMs);
    this.#take(held.name);
    this.#add(held, node);
  }

  /** Removes the cards of earlier runs of the node than this one; returns those. */
  dropBefore(nodeId: string, bootEpoch: number): readonly HeldCard[] {
    const node = this.#nodes.get(nodeId);
    if (node === undefined || node.bootEpoch >= bootEpoch) return [];
    const names = [...node.names];
    const isOld = (name: string): boolean => (this.#cards.get(name)?.version.bootEpoch ?? 0) < bootEpoch;
    return names.filter(isOld).flatMap((name) => this.#take(name) ?? []);
  }

  /** Forgets the node and all that it has; returns its cards. */
  dropNode(nodeId: string): readonly HeldCard[] {
    const node = this.#nodes.get(nodeId);
    if (node === undefined) return [];
    const dropped = [...node.names].flatMap((name) => this.#take(name) ?? []);
    this.#nodes.delete(nodeId);
    this.#count(node.broughtBy, -1, 0);
    return dropped;
  }

  /** Keeps of each card that has expired its version alone, and in the end nothing. Returns the cards that have expired now. */
  expire(nowMs: number): readonly HeldCard[] {
    const expired: HeldCard[] = [];
    for (const held of [...this.#cards.values()]) {
      const node = this.#nodes.get(held.nodeId);
      if (held.expiresAtMs > nowMs || node === undefined) continue;
      if (held.signed !== undefined) expired.push(held);
      if (held.forgetAtMs <= nowMs) this.#take(held.name);
      else if (held.signed !== undefined)
        this.put(
          { ...held, bytes: Math.min(held.bytes, REMEMBERED_BYTES), signed: undefined, card: undefined },
          node,
        );
    }
    for (const { nodeId, names, forgetAtMs } of this.nodes())
      if (names.size === 0 && forgetAtMs <= nowMs) this.dropNode(nodeId);
    return expired;
  }

  #addNode(nodeId: string, publicKey: string, broughtBy: string): Node {
    const node = {
      nodeId,
      publicKey,
      broughtBy,
      bootEpoch: 0,
      forgetAtMs: 0,
      bytes: 0,
      names: new Set<string>(),
    };
    this.#nodes.set(nodeId, node);
    this.#count(broughtBy, 1, 0);
    return node;
  }

  #countFor(node: Node, peer: string): void {
    this.#count(node.broughtBy, -1, -node.bytes);
    node.broughtBy = peer;
    this.#count(peer, 1, node.bytes);
  }

  #count(peer: string, nodes: number, bytes: number): void {
    const brought = this.broughtBy(peer);
    const counted = { nodes: brought.nodes + nodes, bytes: brought.bytes + bytes };
    if (counted.nodes === 0) this.#brought.delete(peer);
    else this.#brought.set(peer, counted);
  }

  #countBytes(node: Node, bytes: number): void {
    node.bytes += bytes;
    this.#bytes += bytes;
    this.#count(node.broughtBy, 0, bytes);
  }

  #add(held: HeldCard, node: Node): void {
    this.#cards.set(held.name, held);
    node.names.add(held.name);
    this.#countBytes(node, held.bytes);
    this.#sorted.splice(firstBehind(this.#sorted, held.name), 0, held.name);
    if (held.card === undefined) return;
    this.#byAgent.add(held.agentId, held.name);
    for (const { id } of held.card.capabilities) this.#byCapability.add(id, held.name);
  }

  #take(name: string): HeldCard | undefined {
    const held = this.#cards.get(name);
    const node = held && this.#nodes.get(held.nodeId);
    if (held === undefined || node === undefined) return undefined;
    this.#cards.delete(name);
    node.names.delete(name);
    this.#countBytes(node, -held.bytes);
    this.#sorted.splice(firstBehind(this.#sorted, name) - 1, 1);
    this.#byAgent.delete(held.agentId, name);
    for (const { id } of held.card?.capabilities ?? []) this.#byCapability.delete(id, name);
    return held;
  }
}

/** The place of the first name behind this one. */
function firstBehind(sorted: readonly string[], after: string | undefined): number {
  if (after === undefined) return 0;
  let [low, high] = [0, sorted.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((sorted[middle] as string) > after) high = middle;
    else low = middle + 1;
  }
  return low;
}
