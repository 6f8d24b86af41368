import { trustScore } from '../chain/trust.ts';
import { ACCOUNT_NAME, type XprAccounts, type XprAgent } from '../chain/xpr-accounts.ts';
import { invalidOptions } from '../../../runtime/protocol/errors.ts';
import type { Clock } from '../../../runtime/protocol/seams.ts';
import type { AmendCard } from '../../a2a/server/card-routes.ts';
import type { Json } from '../../a2a/wire/json.ts';

type JsonObject = { readonly [key: string]: Json };

/**
 * The accounts that agents are registered as on the chain.
 *
 * - `account` of the system as a whole. @default none
 * - `agents`  of single agents, by agent id. @default none
 */
export interface XprCardOptions {
  readonly accounts: Pick<XprAccounts, 'agent'>;
  readonly account?: string | undefined;
  readonly agents?: Readonly<Record<string, string>>;
}

const TTL_MS = 60_000;
const RETRY_MS = 10_000;

/**
 * Adds the records of the chain to cards (X-01..X-05). A record is read once a minute at most; while the chain does not
 * answer, the last one is used. Throws INVALID_OPTIONS naming an invalid account.
 */
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

/** The input and output mode that XPR expects on every card. */
const TEXT = 'text';

/**
 * Adds an account's record to a card (seed 2, "Agent Card Schema"). Name, description and URL come from the record, unless
 * they are empty there; its capabilities become tags of every skill; and the fields `xpr:...` are added. Without a record
 * only `xpr:account` is added.
 */
export function withChainRecord(
  card: JsonObject,
  {
    account,
    agent,
    nowMs,
  }: { readonly account: string; readonly agent: XprAgent | undefined; readonly nowMs: number },
): JsonObject {
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
  const fields = objectOf(skill);
  return { ...fields, tags: [...new Set([...tags, ...listOf(fields['tags'])])] };
}

const objectOf = (value: Json | undefined): JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as JsonObject) : {};

const listOf = (value: Json | undefined): readonly Json[] => (Array.isArray(value) ? value : []);

/** The cached record of an account. */
interface Known {
  agent: XprAgent | undefined;
  /** When the chain may be asked again, Unix milliseconds. */
  untilMs: number;
  asking: Promise<void> | undefined;
}

/**
 * - `ttlMs`   how long a record is cached.
 * - `retryMs` how long until the next try when the chain does not answer. The last record is used meanwhile.
 */
interface ChainRecordsOptions {
  readonly ttlMs: number;
  readonly retryMs: number;
}

/** Caches the records of a few accounts, so that the chain is asked seldom, however many cards are requested. */
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

  /** Resolves to an account's record; undefined if there is none, or none could be read yet. */
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
      // A card is shown without the chain's record too.
    }
    known.untilMs = this.#clock.now() + goodForMs;
    known.asking = undefined;
  }
}
