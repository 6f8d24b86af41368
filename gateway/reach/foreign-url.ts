import ipaddr from 'ipaddr.js';
import { z } from 'zod';
import type { OrreryError } from '../../runtime/protocol/errors.ts';
import { isPublicAddress } from './public-address.ts';
import { resolveByDns } from './resolve-by-dns.ts';

/** All addresses of a name, as text. Rejects when they cannot be had. */
export type Resolve = (hostname: string) => Promise<readonly string[]>;

/**
 * Which URLs are called that somebody else has chosen.
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

/** The error of a URL that is not called; what is shown of it has no credentials. */
export type RefuseUrl = (shown: string, expected: string) => OrreryError;

function isCallable(value: unknown): boolean {
  return typeof value === 'function';
}

const LONGEST_URL = 2_048;
const HOST_SUFFIX_OF_THIS_MACHINE = /(^|\.)localhost$/;

/** The URL as it is to be used. Throws `refuse` when it can be said without asking anybody for addresses. */
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
 * The addresses to connect to, every one of which may be reached: of a name that has a single other one, none is. Throws
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

/** An address for a packet that leaves for the public Internet, or one that the deployment allows. */
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
