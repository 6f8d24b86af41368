import { AgentCard } from '../../runtime/protocol/agent-card.ts';
import { invalidOptions } from '../../runtime/protocol/errors.ts';
import type { CardProvider } from '../../runtime/protocol/firewall.ts';
import { parseOptions } from '../../runtime/protocol/parse-options.ts';
import { isSystemId } from '../../runtime/protocol/policy.ts';
import type { Clock } from '../../runtime/protocol/seams.ts';

/** The names on the card of the system as a whole. */
export interface TeamIdentity {
  readonly name: string;
  readonly description: string;
  readonly version: string;
  readonly provider?: { readonly organization: string; readonly url: string };
  readonly documentationUrl?: string;
}

/**
 * The agents that a gateway serves.
 *
 * - `cards`        those who run here, in the order in which they were registered.
 * - `revision`     another number when any card is another one.
 * - `modifiedAtMs` when that was, Unix milliseconds.
 * - `entry`        the agent that is meant when a caller names none; undefined: the caller must name one, by the tenant or by
 *                  a data part `{tool, arguments}`.
 */
export interface ServedTeam {
  readonly identity: TeamIdentity;
  readonly entry: string | undefined;
  cards(): readonly AgentCard[];
  card(agentId: string): AgentCard | undefined;
  readonly revision: number;
  readonly modifiedAtMs: number;
}

/** The registry that a team is served from. `table.version` changes with each change in it. */
export interface TeamRegistry {
  readonly table: { readonly version: number };
  getLocalCards(): readonly AgentCard[];
}

/** `expose`: which agents are served. @default all, also those that come later */
export interface ServedTeamOptions {
  readonly identity: TeamIdentity;
  readonly entry?: string | undefined;
  readonly expose?: readonly string[] | undefined;
}

/** The agents of a registry as they are at any time. Fails with INVALID_OPTIONS naming an agent that is not there. */
export function servedTeam(
  registry: TeamRegistry,
  { identity, entry, expose }: ServedTeamOptions,
  { clock }: { readonly clock: Pick<Clock, 'now'> },
): ServedTeam {
  const exposed = expose === undefined ? undefined : new Set(expose);
  const served = (): AgentCard[] =>
    registry.getLocalCards().filter(({ id }) => !isSystemId(id) && (exposed?.has(id) ?? true));
  let version = registry.table.version;
  let cards = served();
  let revision = 1;
  let modifiedAtMs = clock.now();
  /** Compares the cards again after a change of the registry. Most changes are on no card. */
  const look = (): void => {
    if (registry.table.version === version) return;
    version = registry.table.version;
    const now = served();
    if (isSame(cards, now)) return;
    cards = now;
    revision += 1;
    modifiedAtMs = clock.now();
  };
  const known = new Set(cards.map(({ id }) => id));
  expose?.forEach((id, at) => {
    if (!known.has(id)) throw invalidOptions(`expose[${at}]`, id, 'the id of an agent of the team');
  });
  if (entry !== undefined && !known.has(entry))
    throw invalidOptions('entry', entry, 'the id of an agent that is served');
  return {
    identity,
    entry,
    cards: () => {
      look();
      return cards;
    },
    card: (agentId) => {
      look();
      return cards.find(({ id }) => id === agentId);
    },
    get revision() {
      look();
      return revision;
    },
    get modifiedAtMs() {
      look();
      return modifiedAtMs;
    },
  };
}

/**
 * The team with the cards of a provider. If the provider throws, or returns no card, the request for that card fails. A
 * card's id cannot be changed.
 */
export function shownTeam(team: ServedTeam, provide: CardProvider): ServedTeam {
  const shown = ({ id }: AgentCard): AgentCard | undefined => {
    const card = provide(id);
    return card === undefined ? undefined : { ...parseOptions(AgentCard, card, `cardProvider("${id}")`), id };
  };
  return {
    identity: team.identity,
    entry: team.entry,
    cards: () => team.cards().flatMap((card) => shown(card) ?? []),
    card: (agentId) => {
      const card = team.card(agentId);
      return card === undefined ? undefined : shown(card);
    },
    get revision() {
      return team.revision;
    },
    get modifiedAtMs() {
      return team.modifiedAtMs;
    },
  };
}

const isSame = (one: readonly AgentCard[], other: readonly AgentCard[]): boolean =>
  one.length === other.length &&
  one.every(({ id, revision }, at) => other[at]?.id === id && other[at]?.revision === revision);
