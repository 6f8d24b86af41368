import { type AgentCard, AgentTier } from '../protocol/agent-card.ts';
import { bindMethods } from '../protocol/bind-methods.ts';
import { agentNotFound, invalidCard } from '../protocol/errors.ts';
import { parseOptions } from '../protocol/parse-options.ts';
import { isSystemId, sandboxReach } from '../protocol/policy.ts';
import { CLOSED_SANDBOXES, SandboxRoutingConfig } from '../protocol/routing-config.ts';
import { Discovery, type DiscoveryManager, type LostCard } from './discovery.ts';
import { registeredCard } from './registered-card.ts';
import { RegistryView, cardOf } from './registry-view.ts';
import { type RemoteGrant, clearanceUnder, UNKNOWN_NODE } from './remote-grant.ts';
import { deltaOf, RoutingTable, type TableDelta } from './routing-table.ts';
import type { AgentProfile, AgentRow, Clearance } from '../protocol/agent-row.ts';
import { faultsOf } from '../protocol/payload-faults.ts';
import { z } from 'zod';
import { Delivery } from '../protocol/envelope.ts';

/**
 * - `table`     what the registry reads and writes. @default a new one
 * - `onChange`  called with every write after it was applied here, for an authority that orders writes between threads. With it
 *               the registry does not count the table's version.
 * - `sandbox`   what a sandboxed agent may see beside its own sandbox. @default enforced, with empty allow lists
 * - `onProblem` called with what discovery could not use.
 */
export interface AgentRegistryOptions {
  readonly table?: RoutingTable;
  readonly onChange?: (delta: TableDelta) => void;
  readonly sandbox?: SandboxRoutingConfig;
  readonly onProblem?: (error: unknown) => void;
}

/** Where an agent is hosted, and its mailbox: what a row has beside its card. */
interface Placement
  extends Pick<AgentProfile, 'delivery' | 'mailboxCapacity' | 'concurrency' | 'lazy' | 'durable'> {
  readonly slot: number;
  readonly place: string;
}

const UNPLACED: Placement = {
  slot: -1,
  place: 'local',
  delivery: 'once',
  mailboxCapacity: 1_000,
  lazy: false,
  durable: false,
};

/** The registered cards: of this node's agents, and of those that other nodes have announced (seed 1). */
export class AgentRegistry {
  readonly table: RoutingTable;
  readonly #onChange: ((delta: TableDelta) => void) | undefined;
  readonly #onProblem: (error: unknown) => void;
  readonly #everybody: RegistryView;
  #sandbox: SandboxRoutingConfig;
  #discovery: Discovery | undefined;

  static {
    bindMethods(AgentRegistry.prototype);
  }

  constructor({ table = new RoutingTable(), onChange, sandbox, onProblem }: AgentRegistryOptions = {}) {
    this.table = table;
    this.#onChange = onChange;
    this.#onProblem = onProblem ?? (() => undefined);
    this.#everybody = new RegistryView(table, () => true);
    this.#sandbox = parseOptions(SandboxRoutingConfig, sandbox ?? CLOSED_SANDBOXES, 'registry.sandbox');
  }

  /**
   * Stores the card. It replaces a registered one with the same id, whose revision goes up by one.
   *
   * Fails with INVALID_CARD on a card that is incomplete or reserved, and on a remote card for an id that is local or another
   * node's. It also fails on a local card for the id of another node's agent that is hosted here: `unregister` that one first. A
   * local card replaces a remote one that nobody hosts.
   */
  register(card: AgentCard): void {
    const copy = registeredCard(card);
    const known = this.table.get(copy.id);
    if (copy.origin === 'remote') {
      const owner = ownerOf(known);
      if (owner !== undefined && owner !== UNKNOWN_NODE)
        throw invalidCard(`origin: "${copy.id}" is ${saidOf(owner)}; a remote card does not replace it`);
      this.#storeRemote(nextRevision(copy, known), {});
      return;
    }
    const stored = nextRevision(copy, known);
    if (known !== undefined && known.slot >= 0 && !isLocal(known))
      throw invalidCard(
        `origin: "${copy.id}" is ${saidOf(ownerOf(known) as string)} and hosted here; a local card takes its id when it is unregistered`,
      );
    if (isLocal(known)) this.#store(stored, placementOf(known), clearanceUnderCard(known, stored));
    else this.#store(stored, UNPLACED);
    this.#discovery?.announce(stored);
  }

  /**
   * Takes in a card of another node, with origin `remote`. Returns false and changes nothing if the id is that of a local agent,
   * or of an agent of a third node.
   */
  mergeRemote(card: unknown, grant: RemoteGrant = {}): boolean {
    const copy = registeredCard(card);
    const owner = ownerOf(this.table.get(copy.id));
    if (owner !== undefined && owner !== (grant.nodeId ?? UNKNOWN_NODE)) return false;
    this.#storeRemote(Object.freeze({ ...copy, origin: 'remote' }), grant);
    return true;
  }

  /** Removes the agent; says whether there was one. */
  unregister(agentId: string): boolean {
    const row = this.table.get(agentId);
    if (row === undefined || isSystemId(agentId)) return false;
    this.#write([], [agentId]);
    if (isLocal(row)) this.#discovery?.withdraw(agentId);
    return true;
  }

  getById(agentId: string): AgentCard | undefined {
    return this.#everybody.getById(agentId);
  }

  findByCapability(capabilityId: string): AgentCard[] {
    return this.#everybody.findByCapability(capabilityId);
  }

  findByTier(tier: AgentTier): AgentCard[] {
    return this.#everybody.findByTier(tier);
  }

  listAll(): AgentCard[] {
    return this.#everybody.listAll();
  }

  getLocalCards(): AgentCard[] {
    return this.#everybody.getLocalCards();
  }

  getRemoteCards(): AgentCard[] {
    return this.#everybody.getRemoteCards();
  }

  /** The registry as one agent may see it. A sandboxed agent sees those that it may write to. Fails with AGENT_NOT_FOUND. */
  viewFor(agentId: string): RegistryView {
    if (isSystemId(agentId)) return this.#everybody;
    const reader = this.table.get(agentId)?.party;
    if (reader === undefined) throw agentNotFound(agentId);
    const mayReach = sandboxReach(this.#sandbox);
    return new RegistryView(this.table, (row) => mayReach(reader, row.party));
  }

  /** Changes what sandboxed agents see from now on. */
  setSandboxConfig(config: SandboxRoutingConfig): void {
    this.#sandbox = parseOptions(SandboxRoutingConfig, config, 'registry.sandbox');
  }

  /**
   * Announces every local card to the peers and merges theirs, until `disableHyperswarmDiscovery`. `hyperswarmDiscovery()` of
   * `orrery/hyperswarm` makes a manager over the DHT.
   */
  async enableHyperswarmDiscovery(manager: DiscoveryManager): Promise<void> {
    const former = this.#discovery;
    const discovery = new Discovery(manager, {
      localCards: () => this.getLocalCards(),
      merge: ({ card, grant }) => void this.mergeRemote(card, grant),
      remove: (lost) => this.#removeRemote(lost),
      onProblem: this.#onProblem,
    });
    this.#discovery = discovery;
    await former?.stop();
    if (this.#discovery === discovery) await discovery.start();
  }

  /** Withdraws the local cards from the peers and stops merging theirs. */
  async disableHyperswarmDiscovery(): Promise<void> {
    const discovery = this.#discovery;
    this.#discovery = undefined;
    await discovery?.stop();
  }

  /** The registry as JSON text; `deserialize` gives back the same cards, judged the same way, in the same order. */
  serialize(): string {
    return saveRegistry(this.table.rows());
  }

  /** Makes a registry from the text of `serialize`. Fails with INVALID_CARD naming field and fault. */
  static deserialize(json: string, options: AgentRegistryOptions = {}): AgentRegistry {
    const registry = new AgentRegistry(options);
    for (const { card: saved, standing, concurrency, ...placement } of readRegistry(json)) {
      const card = registeredCard(saved);
      if (registry.table.get(card.id) !== undefined) throw invalidCard(`id: "${card.id}" is saved twice`);
      const clearance = standing && {
        tier: standing.tier,
        sandboxId: standing.sandboxId,
        nodeId: standing.nodeId ?? placement.place,
      };
      const several = concurrency === undefined ? {} : { concurrency };
      registry.#store(card, { ...UNPLACED, ...placement, ...several }, clearance);
    }
    return registry;
  }

  /** What is hosted here stays. */
  #removeRemote({ nodeId, agentId }: LostCard): void {
    const row = this.table.get(agentId);
    if (row !== undefined && row.slot < 0 && ownerOf(row) === nodeId) this.#write([], [agentId]);
  }

  #storeRemote(card: AgentCard, grant: RemoteGrant): void {
    const clearance = clearanceUnder(grant, card);
    const known = this.table.get(card.id);
    const isHosted = known !== undefined && known.slot >= 0;
    this.#store(card, isHosted ? placementOf(known) : { ...UNPLACED, place: clearance.nodeId }, clearance);
  }

  #store(card: AgentCard, { slot, place, ...mailbox }: Placement, clearance?: Clearance): void {
    const profile: AgentProfile = {
      card,
      capabilityIds: [...new Set(card.capabilities.map(({ id }) => id))],
      ...mailbox,
      ...(clearance === undefined ? {} : { clearance }),
    };
    this.#write([{ id: card.id, slot, place, profile, revision: card.revision }], []);
  }

  #write(rows: readonly Omit<AgentRow, 'party'>[], remove: readonly string[]): void {
    const version = this.table.version + (this.#onChange === undefined ? 1 : 0);
    const delta = deltaOf(version, rows, remove);
    this.table.apply(delta);
    this.#onChange?.(delta);
  }
}

const isLocal = (row: AgentRow | undefined): row is AgentRow => row?.profile.card.origin === 'local';

/** The clearance under a new card: an agent that was started here as one of another node stays one. */
const clearanceUnderCard = ({ profile: { clearance } }: AgentRow, { tier, sandboxId }: AgentCard) =>
  clearance && { tier, sandboxId, nodeId: clearance.nodeId };

const LOCAL = Symbol('local');

/** The owner of an agent: this node, or the node with this id. */
function ownerOf(row: AgentRow | undefined): string | typeof LOCAL | undefined {
  if (row === undefined) return undefined;
  const { card, clearance } = row.profile;
  return card.origin === 'local' ? LOCAL : (clearance?.nodeId ?? UNKNOWN_NODE);
}

const saidOf = (owner: string | typeof LOCAL): string =>
  owner === LOCAL ? 'local' : `an agent of the node "${String(owner)}"`;

const placementOf = ({ slot, place, profile }: AgentRow): Placement => ({
  slot,
  place,
  delivery: profile.delivery,
  mailboxCapacity: profile.mailboxCapacity,
  ...(profile.concurrency === undefined ? {} : { concurrency: profile.concurrency }),
  lazy: profile.lazy,
  durable: profile.durable,
});

function nextRevision(card: AgentCard, known: AgentRow | undefined): AgentCard {
  if (known === undefined) return card;
  return Object.freeze({ ...card, revision: Math.min(known.revision + 1, Number.MAX_SAFE_INTEGER) });
}

/** One agent as a registry saves it: its card, and what is not in the card. Saved registries call the clearance `standing`. */
const SavedAgent = z.strictObject({
  card: z.unknown(),
  place: z.string(),
  standing: z
    .strictObject({ tier: AgentTier, sandboxId: z.string().optional(), nodeId: z.string().optional() })
    .optional(),
  delivery: Delivery,
  mailboxCapacity: z.int().positive(),
  concurrency: z.int().min(2).optional(),
  lazy: z.boolean(),
  durable: z.boolean().default(false),
});
type SavedAgent = z.infer<typeof SavedAgent>;

const SavedRegistry = z.strictObject({ format: z.literal(1), agents: z.array(SavedAgent) });

/** The rows as JSON text. */
function saveRegistry(rows: Iterable<AgentRow>): string {
  const agents = Array.from(rows, (row) => {
    const { card: _card, capabilityIds: _ids, clearance, ...profile } = row.profile;
    return { ...profile, standing: clearance, card: cardOf(row), place: row.place };
  });
  return JSON.stringify({ format: 1, agents });
}

/** Reads what `saveRegistry` wrote, but does not check the cards. Fails with INVALID_CARD naming field and fault. */
function readRegistry(json: string): readonly SavedAgent[] {
  let value: unknown;
  try {
    value = JSON.parse(json);
  } catch (error) {
    throw invalidCard(`not JSON: ${(error as Error).message}`);
  }
  const parsed = SavedRegistry.safeParse(value);
  if (parsed.success) return parsed.data.agents;
  throw invalidCard(faultsOf(parsed.error, value));
}
