import { AgentDefinition } from '../agent/agent-definition.ts';
import type { AgentCard } from '../protocol/agent-card.ts';
import { errorToData, invalidOptions, refused } from '../protocol/errors.ts';
import type { Clock } from '../protocol/seams.ts';
import type { Taint } from '../protocol/taint.ts';
import type { AgentRegistry } from '../routing/agent-registry.ts';
import { RecentMisses } from '../routing/recent-misses.ts';
import { isServed, queryKey, RemoteLookup, type RemoteQuery } from '../routing/remote-lookup.ts';
import { UNKNOWN_NODE } from '../routing/remote-grant.ts';
import type { FoundPeer, PeerLimits, PeerOptions } from './peer-options.ts';

/** Lookups that are under way at a time; what is asked beyond them finds nobody. */
const MAX_UNDER_WAY = 100;

/** What was found, with its card. */
interface Found extends FoundPeer {
  readonly card: unknown;
}

/**
 * - `host`      has it live in the embedder's thread, under this card, which the registry has.
 * - `onProblem` hears why a lookup found nobody, or what it found was not taken in.
 */
export interface PeersDeps {
  readonly options: Required<Pick<PeerOptions, 'lookup'>> & PeerLimits;
  readonly registry: AgentRegistry;
  readonly clock: Clock;
  readonly host: (agent: AgentDefinition<unknown>, card: AgentCard) => Promise<unknown>;
  readonly onProblem: (reason: string) => void;
}

/** Asks other nodes for whom nobody here has, for all threads of the system, and takes in whom they have. */
export class Peers {
  readonly #deps: PeersDeps;
  readonly #lookup: RemoteLookup<Found>;
  readonly #misses: RecentMisses;
  #taken = 0;

  constructor(deps: PeersDeps) {
    this.#deps = deps;
    const { options, clock } = deps;
    this.#misses = new RecentMisses(options.missMs);
    this.#lookup = new RemoteLookup<Found>({
      remote: { lookup: async (query, signal) => this.#found(await options.lookup(query, signal)) },
      takeIn: (found) => this.#takeIn(found),
      clock,
      timeoutMs: options.timeoutMs,
      onProblem: (query, error) => {
        const { message } = errorToData(error, 'DELIVERY_FAILED');
        deps.onProblem(`${said(query)} failed: ${message}`);
      },
    });
  }

  /** Resolves when whoever was found has been taken in; never rejects. All who ask for the same wait for one lookup. */
  async find(query: RemoteQuery): Promise<void> {
    const { registry, clock, onProblem } = this.#deps;
    const underWay = this.#lookup.underWay(query);
    if (underWay !== undefined) return underWay;
    const key = queryKey(query);
    // Whoever asks may not have heard yet of what the last lookup has found.
    if (isServed(registry.table, query) || this.#misses.has(key, clock.monotonicMs())) return;
    if (this.#lookup.size >= MAX_UNDER_WAY)
      return onProblem(`${said(query)} was not begun: ${MAX_UNDER_WAY} others are under way`);
    const takenBefore = this.#taken;
    await this.#lookup.find(query);
    if (this.#taken === takenBefore) this.#misses.add(key, clock.monotonicMs());
  }

  /** Ends what is under way. */
  close(): void {
    this.#lookup.close();
  }

  #found(answer: readonly FoundPeer[]): readonly Found[] {
    if (!Array.isArray(answer))
      throw invalidOptions('peers.lookup', answer, 'a function that resolves to a list');
    return answer.map((found: FoundPeer | null | undefined) => {
      const { agent } = found ?? {};
      if (!(agent instanceof AgentDefinition))
        throw invalidOptions(
          'peers.lookup',
          found,
          'a function that finds { agent: an agent made by defineAgent }',
        );
      return { ...found, agent, card: found?.card ?? agent.card(this.#deps.clock.now()) };
    });
  }

  /** Throws what keeps it out; then nothing of it is left. */
  async #takeIn({ agent, card, grant = {}, trusted = false }: Found): Promise<void> {
    const { registry, host, options } = this.#deps;
    const { id } = card as { readonly id: string };
    if (isServed(registry.table, { kind: 'agent', id })) return;
    if (this.#taken >= options.maxFound)
      throw refused(`"${id}" is one too many: ${options.maxFound} agents of other nodes are here`);
    const taint: Taint = [`peer:${grant.nodeId ?? UNKNOWN_NODE}`];
    const wasKnown = registry.getById(id) !== undefined;
    if (!registry.mergeRemote(trusted ? card : { ...(card as AgentCard), taint }, grant))
      throw refused(
        `"${id}" is an agent of this node, or of another one than "${grant.nodeId ?? UNKNOWN_NODE}"`,
      );
    try {
      await host(agent as AgentDefinition<unknown>, registry.getById(id) as AgentCard);
      this.#taken += 1;
    } catch (error) {
      if (!wasKnown) registry.unregister(id);
      throw error;
    }
  }
}

const said = ({ kind, id }: RemoteQuery): string => `The lookup of the ${kind} "${id}" on other nodes`;
