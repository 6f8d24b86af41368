import type { Clock } from '../protocol/seams.ts';
import type { AgentRegistry } from './agent-registry.ts';
import type { FoundCard } from './discovery.ts';

/** Who is looked for on other nodes: one agent by id, or whoever offers a capability. */
export interface RemoteQuery {
  readonly kind: 'agent' | 'capability';
  readonly id: string;
}

/** Where other nodes' cards are looked up. `signal` aborts when nobody waits any more. */
export interface RemoteRegistry {
  lookup(query: RemoteQuery, signal: AbortSignal): Promise<readonly FoundCard[]>;
}

export interface RemoteLookupDeps {
  readonly registry: AgentRegistry;
  readonly remote: RemoteRegistry;
  readonly clock: Clock;
  readonly timeoutMs: number;
  readonly onProblem: (query: RemoteQuery, error: unknown) => void;
}

/**
 * Asks other nodes for agents that are unknown here and merges what fits the question.
 *
 * All who look for the same wait for the same answer, and go on in the order in which they asked.
 */
export class RemoteLookup {
  readonly #deps: RemoteLookupDeps;
  readonly #underWay = new Map<string, Promise<void>>();

  constructor(deps: RemoteLookupDeps) {
    this.#deps = deps;
  }

  /** The lookup for the same that has not ended yet. */
  underWay(query: RemoteQuery): Promise<void> | undefined {
    return this.#underWay.get(keyOf(query));
  }

  /** Resolves when the answer was merged, or there is none; never rejects. */
  find(query: RemoteQuery): Promise<void> {
    const key = keyOf(query);
    const known = this.#underWay.get(key);
    if (known !== undefined) return known;
    const found = this.#ask(query);
    this.#underWay.set(key, found);
    void found.then(() => this.#underWay.delete(key));
    return found;
  }

  #ask(query: RemoteQuery): Promise<void> {
    const { remote, clock, timeoutMs, onProblem } = this.#deps;
    const gaveUp = new AbortController();
    return new Promise<void>((resolve) => {
      const end = clock.setTimer(timeoutMs, () => {
        gaveUp.abort();
        onProblem(query, new Error(`no answer within ${timeoutMs} ms`));
        resolve();
      });
      const answer = async (): Promise<readonly FoundCard[]> => remote.lookup(query, gaveUp.signal);
      answer()
        .then((cards) => this.#merge(query, cards))
        .catch((error: unknown) => {
          if (!gaveUp.signal.aborted) onProblem(query, error);
        })
        .finally(() => {
          end();
          resolve();
        });
    });
  }

  /** What comes too late for those who asked is still good for those who ask next. */
  #merge(query: RemoteQuery, found: readonly FoundCard[]): void {
    for (const { card, grant } of found) {
      if (!fits(query, card)) continue;
      try {
        this.#deps.registry.mergeRemote(card, grant);
      } catch (error) {
        this.#deps.onProblem(query, error);
      }
    }
  }
}

const keyOf = ({ kind, id }: RemoteQuery): string => `${kind}:${id}`;

/** A peer is asked for one thing and must not slip in others. */
function fits({ kind, id }: RemoteQuery, card: unknown): boolean {
  const { id: agentId, capabilities } = (card ?? {}) as { id?: unknown; capabilities?: unknown };
  if (kind === 'agent') return agentId === id;
  return (
    Array.isArray(capabilities) &&
    capabilities.some((capability: { id?: unknown } | null) => capability?.id === id)
  );
}
