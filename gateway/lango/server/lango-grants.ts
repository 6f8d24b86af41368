import { z } from 'zod';
import { parseOptions } from '../../../runtime/protocol/parse-options.ts';
import type { Principal } from '../../../runtime/protocol/principal.ts';
import { ANYBODY, FirewallRule, isFor } from '../firewall/firewall.ts';
import { principalOfSession, type Session } from '../session/session-store.ts';

/** What peers may ask for beside tools. */
const CARDS = ['agent_card', 'capability_query'];

/**
 * What the owner of a system grants a DID, whatever it claims itself.
 *
 * - `tools`     it may use, as a rule of `Firewall` names them: names, `prefix*` or `*`. @default none
 * - `rateLimit` requests in a minute; 0 for no other limit than that of all. @default 0
 * - `tier`      by which the policies judge it, never 0. @default 3
 * - `sandboxId` of the sandbox in which it is. @default none
 * - `tenant`    whose data it may see. @default none
 * - `roles`     for rules of admission. @default none
 * - `trusted`   leaves what it sends untainted. @default false
 */
export const LangoGrant = z.strictObject({
  tools: FirewallRule.shape.tools,
  rateLimit: FirewallRule.shape.rateLimit,
  tier: z.literal([1, 2, 3], '1, 2 or 3: tier 0 is never remote').default(3),
  sandboxId: z.string().min(1).optional(),
  tenant: z.string().min(1).optional(),
  roles: z.array(z.string().min(1)).readonly().default([]),
  trusted: z.boolean().default(false),
});
export type LangoGrant = z.output<typeof LangoGrant>;

const Trust = z.record(FirewallRule.shape.peerDid, LangoGrant);

/** Grants by DID; that of `*` is for every DID without one of its own. */
export type LangoTrust = z.input<typeof Trust>;

/** Whom a system lets in over Lango, and as whom. */
export class LangoGrants {
  readonly #byDid: ReadonlyMap<string, LangoGrant>;
  readonly #revoked = new Set<string>();

  /** Throws INVALID_OPTIONS. */
  constructor(trust: LangoTrust) {
    this.#byDid = new Map(Object.entries(parseOptions(Trust, trust, 'serveLango.trust')));
  }

  /** What a DID is granted; undefined for one that is not let in. */
  of(did: string): LangoGrant | undefined {
    if (this.#revoked.has(did)) return undefined;
    return this.#byDid.get(did) ?? this.#byDid.get(ANYBODY);
  }

  /** Lets a DID in no more. */
  revoke(did: string): void {
    this.#revoked.add(did);
  }

  /** The rules of a firewall that allow what is granted. */
  rules(): FirewallRule[] {
    return [...this.#byDid].map(([peerDid, { tools, rateLimit }]) => ({
      peerDid,
      action: 'allow',
      tools: [...CARDS, ...tools],
      rateLimit,
    }));
  }

  /** Whether its own grant, or that of `*`, has a tool for a DID: both are rules of the firewall. */
  hasTool(did: string, toolName: string): boolean {
    return [did, ANYBODY].some((name) => {
      const tools = this.#byDid.get(name)?.tools ?? [];
      return tools.length > 0 && isFor(tools, toolName);
    });
  }

  /** Who stands behind a session; undefined for one that is let in no more. */
  principalOf(session: Session): Principal | undefined {
    const grant = this.of(session.peerDid);
    if (grant === undefined) return undefined;
    const { tier, roles, tenant } = grant;
    const trust = { score: grant.trusted ? 1 : 0, source: 'lango' };
    return {
      ...principalOfSession(session),
      tier,
      roles,
      trust,
      ...(tenant === undefined ? {} : { tenant }),
    };
  }
}
