import type { AgentCard } from '../../runtime/protocol/agent-card.ts';
import type { ToolChange } from '../../runtime/protocol/tool-service.ts';
import type { SeenTeam } from '../../runtime/public.ts';
import { type AgentOffers, Catalogue, type Duplicate, offersOf } from './catalogue.ts';
import { Listeners } from './listeners.ts';

interface Known {
  readonly card: AgentCard;
  readonly offers: AgentOffers;
}

export interface OfferIndexDeps {
  readonly team: SeenTeam;
  readonly onDuplicate: (duplicate: Duplicate) => void;
  readonly onFault: (error: unknown) => void;
}

/** What the agents of a team offer, as their cards say it: looked up again when anything in the registry has changed. */
export class OfferIndex {
  readonly #deps: OfferIndexDeps;
  readonly #listeners: Listeners<ToolChange>;
  #known = new Map<string, Known>();
  #catalogue = new Catalogue([]);
  #edition = -1;
  /** The catalogue that listeners know. */
  #told = this.#catalogue;
  #isToLook = false;
  #unwatch: (() => void) | undefined;
  readonly #reported = new Set<string>();

  constructor(deps: OfferIndexDeps) {
    this.#deps = deps;
    this.#listeners = new Listeners(deps.onFault);
  }

  get catalogue(): Catalogue {
    const { edition } = this.#deps.team;
    if (edition !== this.#edition) {
      this.#edition = edition;
      this.#catalogue = new Catalogue(this.#offers(), this.#catalogue);
      this.#reportDuplicates();
    }
    return this.#catalogue;
  }

  onChange(listener: (change: ToolChange) => void): () => void {
    if (this.#listeners.isEmpty) {
      this.#told = this.catalogue;
      this.#unwatch = this.#deps.team.watch(this.#look);
    }
    const release = this.#listeners.add(listener);
    return () => {
      release();
      if (this.#listeners.isEmpty) this.#close();
    };
  }

  /** Removes all listeners. */
  forgetListeners(): void {
    this.#listeners.clear();
    this.#close();
  }

  #close(): void {
    this.#unwatch?.();
    this.#unwatch = undefined;
  }

  /** Many agents start at once: their changes are looked at together. */
  readonly #look = (): void => {
    if (this.#isToLook) return;
    this.#isToLook = true;
    queueMicrotask(() => {
      this.#isToLook = false;
      const former = this.#told;
      this.#told = this.catalogue;
      for (const change of this.#told.changesSince(former)) this.#listeners.tell(change);
    });
  };

  /** The offers of all agents; those of unchanged cards are reused. */
  #offers(): readonly AgentOffers[] {
    const known = new Map<string, Known>();
    for (const card of this.#deps.team.cards()) {
      const before = this.#known.get(card.id);
      known.set(
        card.id,
        before !== undefined && offersTheSame(before.card, card) ? before : { card, offers: offersOf(card) },
      );
    }
    this.#known = known;
    return [...known.values()].map(({ offers }) => offers);
  }

  #reportDuplicates(): void {
    for (const duplicate of this.#catalogue.duplicates) {
      const key = `${duplicate.agentId}\n${duplicate.name}`;
      if (this.#reported.has(key) || this.#areInstances(duplicate)) continue;
      this.#reported.add(key);
      this.#deps.onDuplicate(duplicate);
    }
  }

  /** Whether both agents are instances of one module: then equal resources are no mistake. */
  #areInstances({ agentId, ownerId }: Duplicate): boolean {
    const [one, other] = [agentId, ownerId].map((id) => this.#known.get(id)?.card);
    return (
      one !== undefined && one.resources === other?.resources && one.capabilities === other?.capabilities
    );
  }
}

const offersTheSame = (one: AgentCard, other: AgentCard): boolean =>
  one.capabilities === other.capabilities &&
  one.resources === other.resources &&
  one.resourceTemplates === other.resourceTemplates &&
  one.prompts === other.prompts &&
  one.taint === other.taint;
