import { z } from 'zod';
import { AgentTier } from './agent-card.ts';

/**
 * Who stands behind a request from outside: the one answer of every way to prove that.
 *
 * - `id`          unique over all ways: `xpr:alice` and `key:7f3a` are never the same.
 * - `kind`        what it is; `anonymous` has proved nothing.
 * - `tenant`      whose data it may see. It comes from the credentials, never from what the request says.
 * - `roles`       what it may do, by names of the deployment's own.
 * - `tier`        as which the rules judge it. @default 3, that of a specialist
 * - `trust`       0 to 1, and who says so.
 * - `address`     from where somebody comes who has proved nothing: one address, or one network of IPv6.
 * - `expiresAtMs` until when the proof holds, Unix milliseconds; undefined: as long as the connection.
 */
export const Principal = z.strictObject({
  id: z.string().min(1),
  kind: z.enum(['agent', 'user', 'service', 'anonymous']),
  tenant: z.string().min(1).optional(),
  roles: z.array(z.string().min(1)).readonly(),
  tier: AgentTier.default(3),
  trust: z.strictObject({ score: z.number().min(0).max(1), source: z.string().min(1) }),
  address: z.string().min(1).optional(),
  expiresAtMs: z.number().optional(),
});
export type Principal = z.infer<typeof Principal>;

/** All who prove nothing are one: they share what is counted and limited. */
export const ANONYMOUS: Principal = {
  id: 'anonymous',
  kind: 'anonymous',
  roles: [],
  tier: 3,
  trust: { score: 0, source: 'nobody' },
};

/** Somebody who has proved nothing and comes from this address. */
export const anonymousFrom = (address: string | undefined): Principal =>
  address === undefined ? ANONYMOUS : { ...ANONYMOUS, address: networkOf(address) };

/** By which name deaths are charged to somebody: whoever has proved nothing is not to answer for all others who have not. */
export const chargedName = ({ id, kind, address }: Principal): string =>
  kind === 'anonymous' && address !== undefined ? `${id} at ${address}` : id;

const MAPPED = /^::ffff:(\d{1,3}(?:\.\d{1,3}){3})$/i;
const NETWORK_GROUPS = 4;
const GROUPS = 8;

/** The address, or of IPv6 the network of 64 bits that it is in: whoever has one such address has all of them. */
export function networkOf(address: string): string {
  const [plain = ''] = address.split('%');
  const mapped = MAPPED.exec(plain)?.[1];
  if (mapped !== undefined) return mapped;
  if (!plain.includes(':')) return plain;
  const [before = '', after] = plain.toLowerCase().split('::');
  const first = groupsOf(before);
  const last = after === undefined ? [] : groupsOf(after);
  const missing = after === undefined ? 0 : Math.max(0, GROUPS - first.length - last.length);
  const groups = [...first, ...Array.from({ length: missing }, () => '0'), ...last];
  const network = groups.slice(0, NETWORK_GROUPS).map((group) => group.replace(/^0+(?=.)/, ''));
  return `${network.join(':')}::/64`;
}

const groupsOf = (text: string): string[] => (text === '' ? [] : text.split(':'));
