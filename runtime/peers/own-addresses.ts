import { networkInterfaces } from 'node:os';
import type { AgentEndpoint } from '../protocol/agent-card.ts';
import { MAX_ENDPOINTS } from './peer-message.ts';

/** A host that stands for every address of the machine. */
const ANY_HOST = /^(wss?:\/\/)(?:0\.0\.0\.0|\[::\])(?=[:/])/;

/** What other nodes are told of where this one listens: of a listener on every address, those of the machine. */
export function ownAddresses(
  endpoints: readonly AgentEndpoint[],
  hosts: () => readonly string[] = hostsOfMachine,
): readonly string[] {
  const addresses = endpoints.flatMap(({ address }) => {
    if (address === undefined || !ANY_HOST.test(address)) return address ?? [];
    return hosts().map((host) => address.replace(ANY_HOST, `$1${host}`));
  });
  return addresses.slice(0, MAX_ENDPOINTS);
}

/** Its IPv4 addresses in networks. */
const hostsOfMachine = (): readonly string[] =>
  Object.values(networkInterfaces())
    .flatMap((addresses = []) => addresses)
    .filter(({ internal, family }) => !internal && family === 'IPv4')
    .map(({ address }) => address);
