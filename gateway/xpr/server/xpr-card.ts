import { trustScore } from '../chain/trust.ts';
import { ACCOUNT_NAME, type XprAccounts, type XprAgent } from '../chain/xpr-accounts.ts';
import { invalidOptions } from '../../../runtime/protocol/errors.ts';
import type { Clock } from '../../../runtime/protocol/seams.ts';
import type { AmendCard } from '../../a2a/server/card-routes.ts';
import type { Json } from '../../a2a/wire/json.ts';

type Words = { readonly [key: string]: Json };

/**
 * As whom agents are registered on the chain.
 *
 * - `account` the system as a whole.
 * - `agents`  single agents, by their ids here. @default none
 */
export interface XprCardOptions {
  readonly accounts: Pick<XprAccounts, 'agent'>;
  readonly account?: string | undefined;
  readonly agents?: Readonly<Record<string, string>>;
}

const TTL_MS = 60_000;
const RETRY_MS = 10_000;

/** Has cards show what the chain says (X-01..X-05), asked once a minute; while the chain is away, what it last
 * said. Throws INVALID_OPTIONS naming an account that can be none. */
export function xprCards(
  { accounts, account: ofSystem, agents = {} }: XprCardOptions,
  { clock }: { readonly clock: Pick<Clock, 'now'> },
): AmendCard {
  requireAccount('account', ofSystem);
  for (const [agentId, account] of Object.entries(agents)) requireAccount(`agents.${agentId}`, account);
  const records = new ChainRecords(accounts, clock, { ttlMs: TTL_MS, retryMs: RETRY_MS });
  const accountOf = (agentId: string | undefined): string | undefined => {
    if (agentId === undefined) return ofSystem;
    return Object.hasOwn(agents, agentId) ? agents[agentId] : undefined;
  };
  return async (agentId, card) => {
    const account = accountOf(agentId);
    if (account === undefined) return card;
    return withChainRecord(card, { account, agent: await records.of(account), nowMs: clock.now() });
  };
}

function requireAccount(field: string, account: string | undefined): void {
  if (account !== undefined && !ACCOUNT_NAME.test(account))
    throw invalidOptions(field, account, 'the name of an XPR account');
}

/** What XPR calls the mode of everything that can be read. */
const TEXT = 'text';

/**
 * A card as A2A has it, with what the chain says of the account (seed 2, "Agent Card Schema"): name, description and URL are
 * those of the record, its capabilities are tags of every skill, and the fields `xpr:...` are added. What the record leaves
 * empty stays as it is. Without a record only the account is added.
 */
export function withChainRecord(
  card: Words,
  {
    account,
    agent,
    nowMs,
  }: { readonly account: string; readonly agent: XprAgent | undefined; readonly nowMs: number },
): Words {
  if (agent === undefined) return { ...card, 'xpr:account': account };
  const { name, description, endpoint, protocol, capabilities, kycLevel, registeredAtMs, owner } = agent;
  return {
    ...card,
    ...(name === '' ? {} : { name }),
    ...(description === '' ? {} : { description }),
    ...(endpoint === '' ? {} : { url: endpoint }),
    capabilities: { ...NO_CAPABILITIES, ...objectOf(card['capabilities']) },
    defaultInputModes: withMode(card['defaultInputModes']),
    defaultOutputModes: withMode(card['defaultOutputModes']),
    skills: listOf(card['skills']).map((skill) => withTags(skill, capabilities)),
    'xpr:account': account,
    'xpr:protocol': protocol,
    'xpr:trustScore': trustScore(agent, nowMs),
    'xpr:kycLevel': kycLevel,
    'xpr:registeredAt': Math.floor(registeredAtMs / 1_000),
    'xpr:owner': owner,
  };
}

const NO_CAPABILITIES = { streaming: false, pushNotifications: false, stateTransitionHistory: false };

const withMode = (modes: Json | undefined): Json => [...new Set([TEXT, ...listOf(modes)])];

function withTags(skill: Json, tags: readonly string[]): Json {
  const words = objectOf(skill);
  return { ...words, tags: [...new Set([...tags, ...listOf(words['tags'])])] };
}

const objectOf = (value: Json | undefined): Words =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Words) : {};

const listOf = (value: Json | undefined): readonly Json[] => (Array.isArray(value) ? value : []);

/** What is known of an account. */
interface Known {
  agent: XprAgent | undefined;
  /** Until when the chain is not asked again. */
  untilMs: number;
  asking: Promise<void> | undefined;
}

/**
 * `ttlMs`: how long a record is believed. `retryMs`: how long the chain is left alone when it has not answered; until then,
 * and while it is asked again, the last record stands.
 */
interface ChainRecordsOptions {
  readonly ttlMs: number;
  readonly retryMs: number;
}

/** The records of a few accounts, for whoever shows them to everybody: the chain is asked seldom, however many ask. */
class ChainRecords {
  readonly #accounts: Pick<XprAccounts, 'agent'>;
  readonly #clock: Pick<Clock, 'now'>;
  readonly #options: ChainRecordsOptions;
  readonly #known = new Map<string, Known>();

  constructor(accounts: Pick<XprAccounts, 'agent'>, clock: Pick<Clock, 'now'>, options: ChainRecordsOptions) {
    this.#accounts = accounts;
    this.#clock = clock;
    this.#options = options;
  }

  /** Undefined when the account is registered as no agent, or nothing is known of it yet and the chain does not answer. */
  async of(account: string): Promise<XprAgent | undefined> {
    let known = this.#known.get(account);
    if (known === undefined) {
      known = { agent: undefined, untilMs: Number.NEGATIVE_INFINITY, asking: undefined };
      this.#known.set(account, known);
    }
    if (known.untilMs <= this.#clock.now()) known.asking ??= this.#ask(account, known);
    if (known.agent === undefined) await known.asking;
    return known.agent;
  }

  async #ask(account: string, known: Known): Promise<void> {
    const { ttlMs, retryMs } = this.#options;
    let goodForMs = retryMs;
    try {
      known.agent = await this.#accounts.agent(account);
      goodForMs = ttlMs;
    } catch {
      // Who shows a card shows it without the chain too.
    }
    known.untilMs = this.#clock.now() + goodForMs;
    known.asking = undefined;
  }
}
