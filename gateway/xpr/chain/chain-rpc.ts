import { z } from 'zod';
import { invalidOptions, OrreryError, reasonOf } from '../../../runtime/protocol/errors.ts';
import { parseShallowJson } from '../../../runtime/protocol/json.ts';
import { MAX_TIMER_MS, Milliseconds } from '../../../runtime/protocol/milliseconds.ts';
import type { Clock } from '../../../runtime/protocol/seams.ts';
import { boundedText } from './bounded-text.ts';
import type { XprAccounts, XprAgent, XprJob, XprJobs } from './xpr-accounts.ts';

/**
 * Options of `chainRpc`.
 *
 * - `endpoint`  URL of a node's HTTP API, such as `https://proton.greymass.com`.
 * - `tables`    names of the chain's tables, as `contract::table`.
 * - `timeoutMs` of each request. @default 5,000
 * - `atOnce`    most requests at a time; one more is rejected. Anybody can name accounts that have to be looked up. @default
 *               64
 * - `fetch`     @default the platform's
 */
export interface ChainRpcOptions {
  readonly endpoint: string;
  readonly tables?: Partial<typeof TABLES>;
  readonly timeoutMs?: number;
  readonly atOnce?: number;
  readonly fetch?: typeof fetch;
}

const TABLES = {
  agents: 'agentcore::agents',
  scores: 'agentfeed::agentscores',
  identities: 'eosio.proton::usersinfo',
  jobs: 'agentescrow::jobs',
};
const TIMEOUT_MS = 5_000;
const AT_ONCE = 64;
const MOST_BYTES = 1 << 20;
/** The units of one XPR: amounts come as `500.0000 XPR`, or in units. */
const UNITS = 10_000;

const Account = z.object({
  permissions: z.array(
    z.object({
      perm_name: z.string(),
      required_auth: z.object({
        threshold: z.number(),
        keys: z.array(z.object({ key: z.string(), weight: z.number() })),
      }),
    }),
  ),
});
/** A number, or a text: the node writes 64-bit numbers as texts. */
const Figure = z.coerce.number().catch(0);
const AgentRow = z.object({
  account: z.string(),
  owner: z.string().optional(),
  name: z.string().default(''),
  description: z.string().default(''),
  endpoint: z.string().default(''),
  protocol: z.string().default(''),
  capabilities: z.string().default('[]'),
  active: z.union([z.boolean(), z.number()]).default(false),
  stake: z.union([z.string(), z.number()]).default(0),
  registered_at: Figure.default(0),
});
const ScoreRow = z.object({ avg_score: Figure.default(0) });
const JobRow = z.object({
  client: z.string().default(''),
  agent: z.string().default(''),
  title: z.string().default(''),
  description: z.string().default(''),
  deliverables: z.string().default('[]'),
  amount: z.union([z.string(), z.number()]).default(0),
  deadline: Figure.default(0),
});
const IdentityRow = z.object({
  kyc: z.array(z.looseObject({ kyc_level: z.string() })).default([]),
  verified: z.union([z.boolean(), z.number()]).default(false),
});

/**
 * Reads accounts and jobs from a node of the chain (`get_account`, `get_table_rows`). Its methods reject with REFUSED if the
 * node does not answer, or answers with something else.
 *
 * Throws INVALID_OPTIONS for an `endpoint` that is no URL, or a wrong `timeoutMs`.
 */
export function chainRpc(
  options: ChainRpcOptions,
  { clock }: { clock: Pick<Clock, 'setTimer'> },
): XprAccounts & XprJobs {
  const tables = { ...TABLES, ...options.tables };
  const ask = asker(options, clock);
  const row = async <Row>(table: string, key: string, schema: z.ZodType<Row>): Promise<Row | undefined> => {
    const [code, name] = table.split('::');
    const bounds = { lower_bound: key, upper_bound: key, limit: 1, json: true };
    const query = { code, scope: code, table: name, ...bounds };
    const { rows } = await ask('get_table_rows', query, z.object({ rows: z.array(schema) }));
    return rows[0];
  };
  return {
    activeKeys: async (account) => {
      const found = await ask('get_account', { account_name: account }, Account.or(z.undefined()));
      const active = found?.permissions.find(({ perm_name }) => perm_name === 'active')?.required_auth;
      return (active?.keys ?? [])
        .filter(({ weight }) => weight >= (active?.threshold ?? 1))
        .map(({ key }) => key);
    },
    agent: async (account): Promise<XprAgent | undefined> => {
      const agent = await row(tables.agents, account, AgentRow);
      if (agent === undefined) return undefined;
      const owner = agent.owner === undefined || agent.owner === '' ? account : agent.owner;
      const [score, identity] = await Promise.all([
        row(tables.scores, account, ScoreRow),
        row(tables.identities, owner, IdentityRow),
      ]);
      return {
        account,
        owner,
        name: agent.name,
        description: agent.description,
        endpoint: agent.endpoint,
        protocol: agent.protocol,
        capabilities: textsOf(agent.capabilities),
        isActive: Boolean(agent.active),
        stake: wholeCoins(agent.stake),
        rating: score?.avg_score ?? 0,
        kycLevel: identity === undefined ? 0 : kycLevelOf(identity),
        registeredAtMs: agent.registered_at * 1_000,
      };
    },
    job: async (id): Promise<XprJob | undefined> => {
      const job = await row(tables.jobs, String(id), JobRow);
      if (job === undefined) return undefined;
      const { client, agent, title, description } = job;
      return {
        id,
        client,
        agent,
        title,
        description,
        deliverables: deliverablesOf(job.deliverables),
        amount: wholeCoins(job.amount),
        deadlineAtMs: job.deadline > 0 ? job.deadline * 1_000 : undefined,
      };
    },
  };
}

/** The KYC level, 0 to 3. A claim may end in its level, as in `name:2`; otherwise three claims make one level. */
export function kycLevelOf({ kyc, verified }: z.output<typeof IdentityRow>): number {
  const levels = kyc.map(({ kyc_level }) => {
    const suffix = /:?(\d)$/.exec(kyc_level)?.[1];
    const claims = kyc_level.split(',').filter((claim) => claim !== '');
    return suffix === undefined ? Math.ceil(claims.length / 3) : Number(suffix);
  });
  return Math.min(3, Math.max(verified ? 1 : 0, ...levels));
}

function wholeCoins(stake: string | number): number {
  const amount = typeof stake === 'number' ? stake : Number.parseFloat(stake);
  const isUnits = typeof stake === 'number' || !stake.includes(' ');
  return Number.isFinite(amount) ? amount / (isUnits ? UNITS : 1) : 0;
}

function textsOf(list: string): readonly string[] {
  try {
    const parsed: unknown = JSON.parse(list);
    return Array.isArray(parsed) ? parsed.filter((one) => typeof one === 'string') : [];
  } catch {
    return [];
  }
}

/** Reads deliverables: a JSON list, or one text. */
function deliverablesOf(text: string): readonly string[] {
  const listed = textsOf(text);
  return listed.length > 0 || text === '' || text === '[]' ? listed : [text];
}

type Ask = <Answer>(method: string, body: object, schema: z.ZodType<Answer>) => Promise<Answer>;

function asker(
  { endpoint, timeoutMs = TIMEOUT_MS, atOnce = AT_ONCE, fetch: send = fetch }: ChainRpcOptions,
  clock: Pick<Clock, 'setTimer'>,
): Ask {
  if (!URL.canParse(endpoint)) throw invalidOptions('endpoint', endpoint, 'the URL of a node');
  if (!Milliseconds.safeParse(timeoutMs).success)
    throw invalidOptions('timeoutMs', timeoutMs, `a number of milliseconds, at most ${MAX_TIMER_MS}`);
  const base = endpoint.replace(/\/+$/, '');
  const failed = (method: string, cause: unknown): OrreryError =>
    new OrreryError('REFUSED', `The chain's node does not say ${method}: ${reasonOf(cause)}`, {
      details: { endpoint: base, method },
      cause,
    });
  let open = 0;
  return async (method, body, schema) => {
    if (open >= atOnce) throw failed(method, new Error(`${open} questions are open already`));
    open += 1;
    const aborting = new AbortController();
    const cancel = clock.setTimer(timeoutMs, () => aborting.abort(new Error(`no answer in ${timeoutMs} ms`)));
    try {
      const response = await send(`${base}/v1/chain/${method}`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify(body),
        redirect: 'error',
        signal: aborting.signal,
      });
      return schema.parse(await answerOf(response));
    } catch (error) {
      throw failed(method, error);
    } finally {
      open -= 1;
      cancel();
    }
  };
}

/** Reads a node's answer; undefined if it says that there is no such account. */
async function answerOf(response: Response): Promise<unknown> {
  const text = await boundedText(response, MOST_BYTES);
  if (response.ok) return parseShallowJson(text);
  if (/unknown key|does not exist|not found/i.test(text)) return undefined;
  throw new Error(`status ${response.status}`);
}
