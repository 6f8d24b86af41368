import type { PathHop } from '../protocol/envelope.ts';
import { HOST_ID, isSystemId } from '../protocol/policy.ts';
import type { RoutingTable } from '../routing/routing-table.ts';

/** Who an agent is elsewhere: its node, and its id there. */
export interface NameElsewhere {
  readonly node: string;
  readonly agent: string;
}

/** Reads `<node>/<agent>`; undefined for a name without a node. */
export function readName(name: string): NameElsewhere | undefined {
  const at = name.indexOf('/');
  if (at <= 0 || at === name.length - 1) return undefined;
  return { node: name.slice(0, at), agent: name.slice(at + 1) };
}

/** The path with other names of its agents. */
export const renamed = (path: readonly PathHop[], nameOf: (agent: string) => string): PathHop[] =>
  path.map(({ agent, capability, envelopeId }) => ({ agent: nameOf(agent), capability, envelopeId }));

/**
 * What agents are called here and everywhere. Everywhere an agent is `<node>/<id>`. Here an agent of another node has its own id,
 * or that name where somebody here has the id.
 */
export class PeerNames {
  readonly #self: string;
  readonly #table: RoutingTable;
  /** Of agents of other nodes: their ids here by their names everywhere, and the other way. */
  readonly #ids = new Map<string, string>();
  readonly #names = new Map<string, string>();

  constructor(self: string, table: RoutingTable) {
    this.#self = self;
    this.#table = table;
  }

  /** What an agent that is known here is called everywhere. Whatever the system sends is of its embedder. */
  everywhere(id: string): string {
    return this.#names.get(id) ?? `${this.#self}/${isSystemId(id) ? HOST_ID : id}`;
  }

  /** What an agent is called here; one that is not known keeps its name. */
  here(name: string): string {
    const read = readName(name);
    return read?.node === this.#self ? read.agent : (this.#ids.get(name) ?? name);
  }

  /** The id here of an agent of another node, if it has one. */
  idOf(name: string): string | undefined {
    return this.#ids.get(name);
  }

  /** Chooses the id of an agent of another node: its own if nobody has that, or it had that before. */
  choose({ node, agent }: NameElsewhere): string {
    const name = `${node}/${agent}`;
    const known = this.#ids.get(name);
    if (known !== undefined) return known;
    const holder = this.#table.get(agent);
    const isFree = holder === undefined || holder.profile.clearance?.nodeId === node;
    const id = isFree && !isSystemId(agent) && !this.#names.has(agent) ? agent : name;
    return this.#call(name, id);
  }

  /** An agent of this node has taken the id: from now on it is called here what it is called everywhere. */
  giveWay(name: string): string {
    this.forget(name);
    return this.#call(name, name);
  }

  #call(name: string, id: string): string {
    this.#ids.set(name, id);
    this.#names.set(id, name);
    return id;
  }

  forget(name: string): void {
    const id = this.#ids.get(name);
    this.#ids.delete(name);
    if (id !== undefined) this.#names.delete(id);
  }
}
