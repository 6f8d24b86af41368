import { BlockList } from 'node:net';
import ipaddr from 'ipaddr.js';

/** IPv6 addresses that somebody on the Internet may have; all others are of no network, or of a near one. */
const GLOBAL_UNICAST = ipaddr.parseCIDR('2000::/3');
/** Served by a cloud's hosts to their guests, at an address that looks public. */
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
