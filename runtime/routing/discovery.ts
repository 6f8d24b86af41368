import type { AgentCard } from '../protocol/agent-card.ts';
import type { RemoteGrant } from './remote-grant.ts';

/** A card as a peer sent it, and the grant for that peer's agents. @default grant tier 3, an unknown node */
export interface FoundCard {
  readonly card: unknown;
  readonly grant?: RemoteGrant;
}

/** Of which node which agent is announced no more. */
export interface LostCard {
  readonly nodeId: string;
  readonly agentId: string;
}

/** What discovery needs of a transport (seed 1 calls it the Hypercore manager). */
export interface DiscoveryManager {
  /** Announces a card to the peers; called again when it changed. */
  announce(card: AgentCard): Promise<void>;
  withdraw(agentId: string): Promise<void>;
  /** The cards that the peers announce now. */
  pull(): Promise<readonly FoundCard[]>;
  /** Calls `listener` with each card that they announce from now on, until the returned function is called. */
  onFound(listener: (found: FoundCard) => void): () => void;
  /** Calls `listener` with each card that is announced no more, until the returned function is called. @default cards stay */
  onLost?(listener: (lost: LostCard) => void): () => void;
}

/** What discovery needs of a registry. `onProblem` is called for cards that are none, and for peers out of reach. */
export interface DiscoveryDeps {
  readonly localCards: () => readonly AgentCard[];
  readonly merge: (found: FoundCard) => void;
  readonly remove: (lost: LostCard) => void;
  readonly onProblem: (error: unknown) => void;
}

/** Keeps one registry and the peers of one transport informed of each other's cards. */
export class Discovery {
  readonly #manager: DiscoveryManager;
  readonly #deps: DiscoveryDeps;
  #stopListening: (() => void) | undefined;

  constructor(manager: DiscoveryManager, deps: DiscoveryDeps) {
    this.#manager = manager;
    this.#deps = deps;
  }

  /** Listens, announces every local card, and takes in the cards of the peers. If that fails, it rejects and is off. */
  async start(): Promise<void> {
    const stopFinding = this.#manager.onFound((found) => this.#takeIn(found));
    const stopLosing = this.#manager.onLost?.((lost) => this.#deps.remove(lost));
    this.#stopListening = () => {
      stopFinding();
      stopLosing?.();
    };
    try {
      await Promise.all(this.#deps.localCards().map((card) => this.#manager.announce(card)));
      for (const found of await this.#manager.pull()) this.#takeIn(found);
    } catch (error) {
      this.#ignore();
      throw error;
    }
  }

  /** Stops listening and withdraws every local card; what is known of remote ones stays. */
  async stop(): Promise<void> {
    this.#ignore();
    await Promise.all(this.#deps.localCards().map(({ id }) => this.#manager.withdraw(id)));
  }

  announce(card: AgentCard): void {
    this.#manager.announce(card).catch(this.#deps.onProblem);
  }

  withdraw(agentId: string): void {
    this.#manager.withdraw(agentId).catch(this.#deps.onProblem);
  }

  #ignore(): void {
    this.#stopListening?.();
    this.#stopListening = undefined;
  }

  #takeIn(found: FoundCard): void {
    if (this.#stopListening === undefined) return;
    try {
      this.#deps.merge(found);
    } catch (error) {
      this.#deps.onProblem(error);
    }
  }
}
