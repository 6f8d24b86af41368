import { z } from 'zod';
import { invalidOptions, refused } from '../../../runtime/protocol/errors.ts';
import type { FirewallHooks, ZKAttestFunc } from '../../../runtime/protocol/firewall.ts';
import type { JsonValue } from '../../../runtime/protocol/json-value.ts';
import { parseOptions, requireMethod } from '../../../runtime/protocol/parse-options.ts';
import type { Clock } from '../../../runtime/protocol/seams.ts';
import { PeerBuckets } from './peer-buckets.ts';
import { sanitise } from './sanitise.ts';

/** Whose rules are for all. */
export const ANYBODY = '*';

/**
 * What a peer may use, or may not.
 *
 * - `peerDid`   whose rule it is; `*` for everybody's.
 * - `action`    a `deny` that matches wins over every `allow`.
 * - `tools`     names, `prefix*`, or `*`; empty means all. `agent_card` and `capability_query` are such names, too.
 * - `rateLimit` requests in a minute; 0 for no limit. That of `*` is for all peers together. @default 0
 */
export const FirewallRule = z.strictObject({
  peerDid: z.string().min(1).max(512),
  action: z.enum(['allow', 'deny']),
  tools: z.array(z.string().min(1).max(512)).max(1_000).readonly().default([]),
  rateLimit: z.int().nonnegative().default(0),
});
export type FirewallRule = z.output<typeof FirewallRule>;

const Options = z.strictObject({
  rules: z.array(FirewallRule).default([]),
  requestsPerMinute: z.int().positive().default(120),
  maxRules: z.int().positive().default(1_000),
  maxPeers: z.int().positive().default(1_000),
});

/**
 * - `rules`             at first. @default none: nobody may use anything
 * - `requestsPerMinute` of one peer, whatever the rules say. @default 120
 * - `maxRules`          @default 1,000
 * - `maxPeers`          how many peers' requests are counted at once. @default 1,000
 * - `zkAttest`, `did`   what makes proofs, and whose they are. @default nothing is attested
 * - `onRemoved`         hears what was removed from a result: paths such as `user.token`, never values.
 */
export type FirewallOptions = Omit<z.input<typeof Options>, 'rules'> & {
  readonly rules?: readonly z.input<typeof FirewallRule>[];
  readonly zkAttest?: ZKAttestFunc;
  readonly did?: string;
  readonly onRemoved?: (paths: readonly string[]) => void;
};

/** Who may use what (seed 0): nobody anything, until a rule allows it. Its methods are the hooks of a gateway's `firewall`, too. */
export class Firewall implements FirewallHooks {
  readonly zkAttest?: ZKAttestFunc;
  readonly did?: string;
  readonly #options: z.output<typeof Options>;
  readonly #onRemoved: ((paths: readonly string[]) => void) | undefined;
  readonly #byRule: PeerBuckets;
  readonly #byPeer: PeerBuckets;
  readonly #rules: FirewallRule[] = [];

  /** Throws INVALID_OPTIONS. */
  constructor(
    { zkAttest, did, onRemoved, ...options }: FirewallOptions,
    deps: { readonly clock: Pick<Clock, 'monotonicMs'> },
  ) {
    requireMethod('Firewall.clock', deps?.clock, 'monotonicMs', 'a clock, such as that of systemSeams()');
    this.#options = parseOptions(Options, options, 'Firewall');
    if (zkAttest !== undefined && did === undefined)
      throw invalidOptions('Firewall.did', did, 'whose proofs zkAttest makes');
    if (zkAttest !== undefined) this.zkAttest = zkAttest;
    if (did !== undefined) this.did = did;
    this.#onRemoved = onRemoved;
    this.#byRule = new PeerBuckets(deps.clock, this.#options.maxRules);
    this.#byPeer = new PeerBuckets(deps.clock, this.#options.maxPeers);
    for (const rule of this.#options.rules) this.addRule(rule);
  }

  /** Throws INVALID_OPTIONS for what is no rule, for one that allows everybody everything, and when there are too many. */
  addRule(rule: z.input<typeof FirewallRule>): void {
    const parsed = parseOptions(FirewallRule, rule, 'rule');
    if (parsed.action === 'allow' && parsed.peerDid === ANYBODY && isForAll(parsed.tools))
      throw invalidOptions('rule', parsed, 'no rule that allows everybody everything');
    if (this.#rules.length >= this.#options.maxRules)
      throw invalidOptions('rule', parsed, `no more than ${this.#options.maxRules} rules`);
    this.#rules.push(parsed);
  }

  /** Removes the rules of a DID, or of `*`, and what was counted for them. Returns how many there were. */
  removeRule(peerDid: string): number {
    const kept = this.#rules.filter((rule) => rule.peerDid !== peerDid);
    const removed = this.#rules.length - kept.length;
    this.#rules.splice(0, this.#rules.length, ...kept);
    this.#byRule.drop(peerDid);
    return removed;
  }

  /** A copy of the rules, in their order. */
  rules(): FirewallRule[] {
    return this.#rules.map((rule) => ({ ...rule, tools: [...rule.tools] }));
  }

  /** Throws REFUSED saying why. The rates are counted first: also what is denied is counted. */
  filterQuery(peerDid: string, toolName: string): undefined {
    if (!this.#byPeer.take(peerDid, this.#options.requestsPerMinute) || !this.#hasRate(peerDid))
      throw refused(`rate limit exceeded for peer ${peerDid}`);
    if (!this.#hasRate(ANYBODY)) throw refused('global rate limit exceeded');
    const matching = this.#rules.filter(
      (rule) => (rule.peerDid === ANYBODY || rule.peerDid === peerDid) && isFor(rule.tools, toolName),
    );
    if (matching.some(({ action }) => action === 'deny'))
      throw refused(`a firewall rule denies ${peerDid} the tool ${toolName}`);
    if (matching.length === 0) throw refused(`no firewall rule allows ${peerDid} the tool ${toolName}`);
    return undefined;
  }

  /** The result without what must not go out. Throws REFUSED for one that is too deep or too large to look through. */
  sanitizeResponse(result: JsonValue): JsonValue {
    const { value, removed } = sanitise(result);
    if (removed.length > 0) this.#onRemoved?.(removed);
    return value;
  }

  #hasRate(peerDid: string): boolean {
    const limits = this.#rules.flatMap((rule) =>
      rule.peerDid === peerDid && rule.rateLimit > 0 ? [rule.rateLimit] : [],
    );
    return limits.length === 0 || this.#byRule.take(peerDid, Math.min(...limits));
  }
}

const isForAll = (tools: readonly string[]): boolean => tools.length === 0 || tools.includes('*');

/** Whether these tools of a rule, of which none means all, have this one among them. */
export const isFor = (tools: readonly string[], toolName: string): boolean =>
  isForAll(tools) ||
  tools.some((tool) => (tool.endsWith('*') ? toolName.startsWith(tool.slice(0, -1)) : tool === toolName));
