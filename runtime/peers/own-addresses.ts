import { networkInterfaces } from 'node:os';
import type { AgentEndpoint } from '../protocol/agent-card.ts';
import { MAX_ENDPOINTS } from './peer-message.ts';

/** A host that stands for every address of the machine. */
const ANY_HOST = /^(wss?:\/\/)(?:0\.0\.0\.0|\[::\])(?=[:/])/;

/** Where others find this node: what its owner says, and where it listens with transports of which the owner says nothing. */
export const endpointsToTell = (
  owner: readonly AgentEndpoint[],
  listening: readonly AgentEndpoint[],
): readonly AgentEndpoint[] => [
  ...owner,
  ...listening.filter((one) => !owner.some(({ transport }) => transport === one.transport)),
];

/** What other nodes are told of these: of a listener on every address, those of the machine. */
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
