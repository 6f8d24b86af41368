import { Resolver } from 'node:dns/promises';

const TIMEOUT_MS = 2_000;
const TRIES = 2;

/**
 * Asks the name servers for all addresses of a name, of both kinds. It reads no file of hosts and appends no domain, and
 * unlike the machine's own look-up it occupies no thread of the pool, however slowly the servers answer.
 *
 * Rejects when there is no answer of either kind.
 */
export async function resolveByDns(hostname: string): Promise<readonly string[]> {
  const resolver = new Resolver({ timeout: TIMEOUT_MS, tries: TRIES });
  const [four, six] = await Promise.allSettled([resolver.resolve4(hostname), resolver.resolve6(hostname)]);
  const addresses = [four, six].flatMap((answer) => (answer.status === 'fulfilled' ? answer.value : []));
  if (addresses.length === 0 && four.status === 'rejected') throw four.reason;
  return addresses;
}
