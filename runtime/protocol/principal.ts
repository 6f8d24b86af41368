import { z } from 'zod';
import { AgentTier } from './agent-card.ts';

/**
 * The caller behind a request from outside, however they have proved who they are.
 *
 * - `id`          unique over all ways: `xpr:alice` and `key:7f3a` are never the same.
 * - `kind`        the kind of caller; `anonymous` has proved nothing.
 * - `tenant`      whose data it may see. It comes from the credentials, never from the request.
 * - `roles`       what it may do, under names of the deployment.
 * - `tier`        the tier by which the policies judge it. @default 3, that of a specialist
 * - `trust`       0 to 1, and who says so.
 * - `address`     of an anonymous caller: one address, or one network of IPv6.
 * - `expiresAtMs` until when the proof holds, Unix milliseconds. @default as long as the connection
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

/** The principal of all callers that prove nothing: they share counts and limits. */
export const ANONYMOUS: Principal = {
  id: 'anonymous',
  kind: 'anonymous',
  roles: [],
  tier: 3,
  trust: { score: 0, source: 'nobody' },
};

/** The anonymous principal at this address. */
export const anonymousFrom = (address: string | undefined): Principal =>
  address === undefined ? ANONYMOUS : { ...ANONYMOUS, address: networkOf(address) };

/** The name under which deaths are charged to a caller. For anonymous ones it has the address, so that they do not answer for each other. */
export const chargedName = ({ id, kind, address }: Principal): string =>
  kind === 'anonymous' && address !== undefined ? `${id} at ${address}` : id;

const MAPPED = /^::ffff:(\d{1,3}(?:\.\d{1,3}){3})$/i;
const NETWORK_GROUPS = 4;
const GROUPS = 8;

/** The address, or for IPv6 its network of 64 bits: who has one address of it has all of them. */
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
