import { isIP } from 'node:net';

/** The authority of an absolute URL, such as `localhost:4000`. */
export function authorityOf(url: string): string {
  const from = url.indexOf('://') + 3;
  const to = url.slice(from).search(/[/?#]/);
  return to === -1 ? url.slice(from) : url.slice(from, from + to);
}

/** What was found before: callers name few origins. */
const origins = new Map<string, string>();
const MOST_ORIGINS = 100;

/** The origin of an absolute URL, as `URL` says it, which it throws as. */
export function originOf(url: string): string {
  const from = url.slice(0, url.indexOf('://') + 3) + authorityOf(url);
  const known = origins.get(from);
  if (known !== undefined) return known;
  const { origin } = new URL(from);
  if (origins.size >= MOST_ORIGINS) origins.clear();
  origins.set(from, origin);
  return origin;
}

/** The host of an authority, in lower case, without port and brackets; a plain address is its own. */
export function hostOf(authority: string): string {
  if (isIP(authority) === 6) return authority;
  const host = authority.replace(/:\d*$/, '').toLowerCase().replace(/\.$/, '');
  return host.startsWith('[') ? host.slice(1, -1) : host;
}

/** Says whether an address or name is this machine's own, and nobody else's. */
export const isLoopback = (host: string): boolean =>
  host === 'localhost' || host === '::1' || (isIP(host) === 4 && host.startsWith('127.'));

/**
 * Says whether a gateway answers to a name. A page of somebody else's, whose name was made to lead here (DNS rebinding),
 * names itself; an address cannot be made to lead elsewhere.
 */
export function servedNames(hosts: readonly string[] | 'any'): (host: string) => boolean {
  if (hosts === 'any') return () => true;
  const names = new Set(hosts.map((host) => hostOf(host)));
  return (host) => names.has(host) || isLoopback(host) || host.endsWith('.localhost') || isIP(host) !== 0;
}
