import { z } from 'zod';
import { publicKeyOfPrivate } from '../chain/k1-signature.ts';
import { ACCOUNT_NAME } from '../chain/xpr-accounts.ts';
import { invalidOptions } from '../../../runtime/protocol/errors.ts';
import { parseOptions } from '../../../runtime/protocol/parse-options.ts';

/** A variable that holds a whole number, in digits only. */
function whole(least: number, most: number, otherwise: number) {
  const isIt = (text: string): boolean =>
    /^\d{1,9}$/.test(text) && Number(text) >= least && Number(text) <= most;
  return z
    .string()
    .refine(isIt, `a whole number from ${least} to ${most}`)
    .transform(Number)
    .default(otherwise);
}

const isHttp = (text: string): boolean => URL.canParse(text) && /^https?:$/.test(new URL(text).protocol);

/** The variables. One that is set to an empty text counts as not set. */
const Env = z.object({
  A2A_AUTH_REQUIRED: z
    .enum(['true', 'false'], 'true or false')
    .default('true')
    .transform((text) => text === 'true'),
  A2A_MIN_TRUST_SCORE: whole(0, 100, 0),
  A2A_MIN_KYC_LEVEL: whole(0, 3, 0),
  A2A_RATE_LIMIT: whole(1, 1_000_000, 20),
  A2A_TOOL_MODE: z.enum(['full', 'readonly'], 'full or readonly').default('full'),
  AGENT_MAX_TURNS: whole(1, 1_000_000, 20),
  MAX_CONCURRENT_RUNS: whole(1, 1_000_000, 5),
  XPR_RPC_ENDPOINT: z.string().refine(isHttp, 'an http or https URL of a node').optional(),
  XPR_ACCOUNT: z.string().regex(ACCOUNT_NAME, 'the name of an account').optional(),
  XPR_PRIVATE_KEY: z.string().optional(),
  OPENCLAW_HOOK_TOKEN: z.string().optional(),
});

/**
 * The settings in the environment of an XPR agent (seed 2, "Trust Gating", "Rate Limiting", "Tool Sandboxing").
 *
 * - `authRequired`      A2A_AUTH_REQUIRED. @default true
 * - `minTrustScore`     A2A_MIN_TRUST_SCORE, 0 to 100. @default 0, which checks nothing
 * - `minKycLevel`       A2A_MIN_KYC_LEVEL, 0 to 3. @default 0, which checks nothing
 * - `requestsPerMinute` A2A_RATE_LIMIT. @default 20
 * - `toolMode`          A2A_TOOL_MODE. @default 'full'
 * - `maxTurns`          AGENT_MAX_TURNS: messages that one task takes. @default 20
 * - `maxConcurrentRuns` MAX_CONCURRENT_RUNS: tasks that are worked at at once. @default 5
 * - `rpcEndpoint`       XPR_RPC_ENDPOINT: URL of a node of the chain.
 * - `account`           XPR_ACCOUNT: the account that this system is registered as.
 * - `signingKey`        XPR_PRIVATE_KEY: the private key of that account, WIF or `PVT_K1_...`.
 * - `hookToken`         OPENCLAW_HOOK_TOKEN: a bearer token that is accepted instead of a signature; at least 16 characters.
 */
export interface XprEnvOptions {
  readonly authRequired: boolean;
  readonly minTrustScore: number;
  readonly minKycLevel: number;
  readonly requestsPerMinute: number;
  readonly toolMode: 'full' | 'readonly';
  readonly maxTurns: number;
  readonly maxConcurrentRuns: number;
  readonly rpcEndpoint?: string;
  readonly account?: string;
  readonly signingKey?: string;
  readonly hookToken?: string;
}

/**
 * Reads the settings from environment variables. Throws INVALID_OPTIONS naming the variable and its value; the value of a
 * secret is not shown.
 */
export function xprOptionsFromEnv(env: Readonly<Record<string, string | undefined>>): XprEnvOptions {
  const set = Object.keys(Env.shape).flatMap((name) => {
    const value = env[name];
    return value === undefined || value === '' ? [] : [[name, value]];
  });
  const known = parseOptions(Env, Object.fromEntries(set), '');
  const { XPR_PRIVATE_KEY: signingKey, OPENCLAW_HOOK_TOKEN: hookToken } = known;
  requireKey(signingKey);
  if (hookToken !== undefined && hookToken.length < FEWEST_CHARACTERS)
    throw invalidOptions('OPENCLAW_HOOK_TOKEN', 'shorter', `at least ${FEWEST_CHARACTERS} characters`);
  return {
    authRequired: known.A2A_AUTH_REQUIRED,
    minTrustScore: known.A2A_MIN_TRUST_SCORE,
    minKycLevel: known.A2A_MIN_KYC_LEVEL,
    requestsPerMinute: known.A2A_RATE_LIMIT,
    toolMode: known.A2A_TOOL_MODE,
    maxTurns: known.AGENT_MAX_TURNS,
    maxConcurrentRuns: known.MAX_CONCURRENT_RUNS,
    ...(known.XPR_RPC_ENDPOINT === undefined ? {} : { rpcEndpoint: known.XPR_RPC_ENDPOINT }),
    ...(known.XPR_ACCOUNT === undefined ? {} : { account: known.XPR_ACCOUNT }),
    ...(signingKey === undefined ? {} : { signingKey }),
    ...(hookToken === undefined ? {} : { hookToken }),
  };
}

const FEWEST_CHARACTERS = 16;

function requireKey(signingKey: string | undefined): void {
  if (signingKey === undefined) return;
  try {
    publicKeyOfPrivate(signingKey);
  } catch {
    throw invalidOptions('XPR_PRIVATE_KEY', 'another text', 'a private key as WIF or PVT_K1_...');
  }
}
