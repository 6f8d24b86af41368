import { isIP } from 'node:net';
import { refused } from '../../../../runtime/protocol/errors.ts';
import { resolveByDns } from '../../../gateway/a2a/push/resolve-by-dns.ts';
import { hostOf, isPublicAddress } from '../../../gateway/a2a/push/safe-url.ts';

/**
 * Which endpoints that stand on the chain are called: anybody can write there what they like.
 *
 * - `allowHttp`    also without TLS. @default false
 * - `allowPrivate` addresses that are called although no public one is. @default none
 * - `resolve`      the addresses of a name. @default asks the name servers of this machine
 */
export interface EndpointRules {
  readonly allowHttp?: boolean;
  readonly allowPrivate?: (address: string) => boolean;
  readonly resolve?: (hostname: string) => Promise<readonly string[]>;
}

/**
 * Throws REFUSED, naming the account and its endpoint, unless that may be called: over TLS, where a name that is made to lead
 * elsewhere after it was checked has no certificate; without credentials; and to public addresses alone.
 */
export async function requireForeign(account: string, endpoint: string, rules: EndpointRules): Promise<void> {
  const no = (why: string) => refused(`The endpoint of "${account}" is not called: ${why}`, { account });
  const url = URL.parse(endpoint);
  if (url === null) throw no('it is no URL');
  if (url.username !== '' || url.password !== '') throw no('it has credentials in it');
  if (url.protocol !== 'https:' && !(rules.allowHttp === true && url.protocol === 'http:'))
    throw no(`it is "${url.protocol}//${url.host}", expected https`);
  const host = hostOf(url);
  const addresses = await addressesOf(host, rules);
  if (addresses.length === 0) throw no(`${host} has no address`);
  const inner = addresses.find((one) => !isPublicAddress(one) && rules.allowPrivate?.(one) !== true);
  if (inner !== undefined) throw no(`${host} leads to ${inner}, which is no public address`);
}

async function addressesOf(
  host: string,
  { resolve = resolveByDns }: EndpointRules,
): Promise<readonly string[]> {
  if (isIP(host) !== 0) return [host];
  if (/(^|\.)localhost$/.test(host)) return ['127.0.0.1'];
  return resolve(host).catch(() => []);
}
