import type { Mail } from '../mailbox/mail.ts';
import type { Clock } from '../protocol/seams.ts';
import type { FoundCard } from './discovery.ts';
import type { RoutingTable } from './routing-table.ts';

/** What is looked up on other nodes: one agent by id, or all that offer a capability. */
export interface RemoteQuery {
  readonly kind: 'agent' | 'capability';
  readonly id: string;
}

/** The query for the recipient of `mail`. */
export const queryOf = ({ recipient, extras }: Mail): RemoteQuery => ({
  kind: extras?.routingHint === 'capability' ? 'capability' : 'agent',
  id: recipient,
});

/** Looks up cards of other nodes. `signal` aborts when nobody waits any more. */
export interface RemoteRegistry<Found extends FoundCard = FoundCard> {
  lookup(query: RemoteQuery, signal: AbortSignal): Promise<readonly Found[]>;
}

/** `takeIn` registers a card that was found. If it throws, only that card is dropped. */
export interface RemoteLookupDeps<Found extends FoundCard> {
  readonly remote: RemoteRegistry<Found>;
  readonly takeIn: (found: Found) => unknown;
  readonly clock: Clock;
  readonly timeoutMs: number;
  readonly onProblem: (query: RemoteQuery, error: unknown) => void;
}

/**
 * Asks other nodes for agents that are unknown here, and takes in the cards that fit the query.
 *
 * All callers with the same query wait for one answer, and go on in the order in which they asked.
 */
export class RemoteLookup<Found extends FoundCard = FoundCard> {
  readonly #deps: RemoteLookupDeps<Found>;
  readonly #underWay = new Map<string, Promise<void>>();
  readonly #stops = new Set<() => void>();

  constructor(deps: RemoteLookupDeps<Found>) {
    this.#deps = deps;
  }

  /** Lookups that have not ended yet. */
  get size(): number {
    return this.#underWay.size;
  }

  /** The lookup for this query that has not ended yet. */
  underWay(query: RemoteQuery): Promise<void> | undefined {
    return this.#underWay.get(queryKey(query));
  }

  /** Looks the query up. Resolves when the answer is taken in, or there is none; never rejects. */
  find(query: RemoteQuery): Promise<void> {
    const key = queryKey(query);
    const known = this.#underWay.get(key);
    if (known !== undefined) return known;
    const found = this.#ask(query);
    this.#underWay.set(key, found);
    void found.then(() => this.#underWay.delete(key));
    return found;
  }

  /** Ends all lookups under way, without an error. */
  close(): void {
    for (const stop of this.#stops) stop();
  }

  #ask(query: RemoteQuery): Promise<void> {
    const { remote, clock, timeoutMs, onProblem } = this.#deps;
    const gaveUp = new AbortController();
    return new Promise<void>((resolve) => {
      const stop = (): void => {
        end();
        this.#stops.delete(stop);
        gaveUp.abort();
        resolve();
      };
      const end = clock.setTimer(timeoutMs, () => {
        stop();
        onProblem(query, new Error(`no answer within ${timeoutMs} ms`));
      });
      this.#stops.add(stop);
      const answer = async (): Promise<readonly Found[]> => remote.lookup(query, gaveUp.signal);
      answer()
        .then((found) => this.#takeIn(query, found))
        .catch((error: unknown) => {
          if (!gaveUp.signal.aborted) onProblem(query, error);
        })
        .finally(() => {
          end();
          this.#stops.delete(stop);
          resolve();
        });
    });
  }

  /** Takes in what was found, even if that comes too late for those who asked: others may ask next. */
  async #takeIn(query: RemoteQuery, found: readonly Found[]): Promise<void> {
    for (const one of found) {
      if (!fits(query, one.card)) continue;
      try {
        await this.#deps.takeIn(one);
      } catch (error) {
        this.#deps.onProblem(query, error);
      }
    }
  }
}

/** Whether the table has somebody who takes mail for this query. */
export function isServed(table: RoutingTable, { kind, id }: RemoteQuery): boolean {
  if (kind === 'agent') return (table.get(id)?.slot ?? -1) >= 0;
  return table.withCapability(id).some(({ slot }) => slot >= 0);
}

/** A key that is the same for the same query. */
export const queryKey = ({ kind, id }: RemoteQuery): string => `${kind}:${id}`;

/** Whether a card answers the query: a peer must not add cards that were not asked for. */
function fits({ kind, id }: RemoteQuery, card: unknown): boolean {
  const { id: agentId, capabilities } = (card ?? {}) as { id?: unknown; capabilities?: unknown };
  if (kind === 'agent') return agentId === id;
  return (
    Array.isArray(capabilities) &&
    capabilities.some((capability: { id?: unknown } | null) => capability?.id === id)
  );
}
