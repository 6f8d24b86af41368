import ipaddr from 'ipaddr.js';
import { z } from 'zod';
import type { OrreryError } from '../../runtime/protocol/errors.ts';
import { BlockList } from 'node:net';
import { Resolver } from 'node:dns/promises';

/** Looks up all addresses of a name. Rejects when they cannot be found. */
export type Resolve = (hostname: string) => Promise<readonly string[]>;

/**
 * Which URLs of others' choice may be called.
 *
 * - `allowHttp`    also without TLS. @default false
 * - `ports`        these only. @default any
 * - `allowPrivate` addresses that are reached although no public one is: of the deployment's own services. @default none
 * - `resolve`      the addresses of a name. @default asks the name servers of this machine, and no file of hosts
 */
export const ForeignUrlRules = z.strictObject({
  allowHttp: z.boolean().default(false),
  ports: z.array(z.int().min(1).max(65_535)).readonly().optional(),
  allowPrivate: z.custom<(address: string) => boolean>(isCallable, 'expected a function').optional(),
  resolve: z.custom<Resolve>(isCallable, 'expected a function').default(() => resolveByDns),
});
export type ForeignUrlRules = z.input<typeof ForeignUrlRules>;
export type CheckedUrlRules = z.output<typeof ForeignUrlRules>;

/** Makes the error for a URL that is not called. `shown` is the URL without credentials. */
export type RefuseUrl = (shown: string, expected: string) => OrreryError;

function isCallable(value: unknown): boolean {
  return typeof value === 'function';
}

const LONGEST_URL = 2_048;
const HOST_SUFFIX_OF_THIS_MACHINE = /(^|\.)localhost$/;

/** Parses the URL. Throws `refuse` for what can be refused before the addresses are known. */
export function parseForeignUrl(url: string, rules: CheckedUrlRules, refuse: RefuseUrl): URL {
  if (url.length > LONGEST_URL) throw refuse(url.slice(0, 80), `at most ${LONGEST_URL} characters`);
  const parsed = URL.parse(url);
  if (parsed === null) throw refuse(url, 'an absolute URL');
  const shown = withoutCredentials(parsed, url);
  if (parsed.protocol !== 'https:' && !(rules.allowHttp && parsed.protocol === 'http:'))
    throw refuse(shown, rules.allowHttp ? 'an http or https URL' : 'an https URL');
  if (parsed.username !== '' || parsed.password !== '') throw refuse(shown, 'a URL without credentials');
  const port = portOf(parsed);
  if (rules.ports !== undefined && !rules.ports.includes(port))
    throw refuse(shown, `one of the ports ${rules.ports.join(', ')}`);
  const host = hostOf(parsed);
  if (ipaddr.isValid(host) && !mayReach(host, rules)) throw refuse(shown, 'a public address');
  return parsed;
}

/**
 * The addresses to connect to. One that may not be reached has all of them refused. Throws
 * `refuse`, and rejects as the resolver does.
 */
export async function checkedAddresses(
  target: URL,
  rules: CheckedUrlRules,
  refuse: RefuseUrl,
): Promise<readonly string[]> {
  const host = hostOf(target);
  const addresses = await addressesOf(host, rules);
  if (addresses.length === 0) throw refuse(target.href, 'a name that has addresses');
  const inner = addresses.find((address) => !mayReach(address, rules));
  if (inner !== undefined) throw refuse(target.href, `public addresses only, and ${host} has ${inner}`);
  return addresses;
}

async function addressesOf(host: string, { resolve }: CheckedUrlRules): Promise<readonly string[]> {
  if (ipaddr.isValid(host)) return [host];
  if (HOST_SUFFIX_OF_THIS_MACHINE.test(host)) return ['127.0.0.1', '::1'];
  return resolve(host);
}

/** The host as it is looked up: without the brackets of an address, and the dot at the end of a full name. */
export const hostOf = ({ hostname }: URL): string => hostname.replace(/^\[|\]$/g, '').replace(/\.$/, '');

const portOf = ({ port, protocol }: URL): number =>
  port === '' ? (protocol === 'https:' ? 443 : 80) : Number(port);

/** Whether an address is public, or allowed by the deployment. */
export function mayReach(address: string, { allowPrivate }: Pick<CheckedUrlRules, 'allowPrivate'>): boolean {
  return isPublicAddress(address) || allowPrivate?.(address) === true;
}

function withoutCredentials(parsed: URL, url: string): string {
  if (parsed.username === '' && parsed.password === '') return url;
  const bare = new URL(parsed);
  bare.username = '';
  bare.password = '';
  return bare.href;
}

/** The IPv6 addresses of the Internet (global unicast). */
const GLOBAL_UNICAST = ipaddr.parseCIDR('2000::/3');
/** A cloud's metadata service whose address looks public. */
const METADATA = new BlockList();
METADATA.addAddress('168.63.129.16');

/**
 * Says whether an address is a public one. Loopback, private, link-local (where clouds serve their metadata), shared,
 * multicast, unspecified, reserved ones are not; what carries an IPv4 address within (mapped, NAT64, 6to4) is what that is.
 */
export function isPublicAddress(address: string): boolean {
  if (!ipaddr.isValid(address)) return false;
  const parsed = ipaddr.parse(address);
  if (parsed instanceof ipaddr.IPv4)
    return parsed.range() === 'unicast' && !METADATA.check(parsed.toString());
  const within = embeddedIpv4(parsed);
  if (within !== undefined) return isPublicAddress(within);
  return parsed.range() === 'unicast' && parsed.match(GLOBAL_UNICAST);
}

/** RFC 4291 (mapped), RFC 6052 (the well-known prefix of NAT64), RFC 3056 (6to4). */
function embeddedIpv4(address: ipaddr.IPv6): string | undefined {
  const bytes = address.toByteArray();
  const dotted = (from: number): string => bytes.slice(from, from + 4).join('.');
  if (address.isIPv4MappedAddress()) return dotted(12);
  if (address.match(ipaddr.parseCIDR('64:ff9b::/96'))) return dotted(12);
  if (address.match(ipaddr.parseCIDR('2002::/16'))) return dotted(2);
  return undefined;
}

const DNS_TIMEOUT_MS = 2_000;
const DNS_TRIES = 2;

/**
 * Asks the name servers for all addresses of a name, of both kinds. It reads no file of hosts and appends no domain, and
 * unlike the machine's own look-up it occupies no thread of the pool, however slowly the servers answer.
 *
 * Rejects when there is no answer of either kind.
 */
async function resolveByDns(hostname: string): Promise<readonly string[]> {
  const resolver = new Resolver({ timeout: DNS_TIMEOUT_MS, tries: DNS_TRIES });
  const [four, six] = await Promise.allSettled([resolver.resolve4(hostname), resolver.resolve6(hostname)]);
  const addresses = [four, six].flatMap((answer) => (answer.status === 'fulfilled' ? answer.value : []));
  if (addresses.length === 0 && four.status === 'rejected') throw four.reason;
  return addresses;
}
