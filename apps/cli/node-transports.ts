import { hkdfSync } from 'node:crypto';
import { isOrreryError, type SigningKeyPair, type Transport, type TransportKind } from 'orrery';
import { readList } from './option-values.ts';
import { isInstalled } from './optional-packages.ts';
import type { TypedOptions } from './run-plan.ts';
import { UsageError } from './usage-error.ts';

/** The packages without which a transport cannot be made. */
const PACKAGES: Readonly<Record<Exclude<TransportKind, 'local'>, readonly string[]>> = {
  websocket: ['ws'],
  hyperswarm: ['hyperdht'],
  libp2p: [
    'libp2p',
    '@libp2p/tcp',
    '@libp2p/identify',
    '@libp2p/crypto',
    '@libp2p/circuit-relay-v2',
    '@chainsafe/libp2p-noise',
    '@chainsafe/libp2p-yamux',
    '@multiformats/multiaddr',
  ],
};
type Kind = keyof typeof PACKAGES;

const ADDRESS =
  'ws://host:port/path, hyperswarm: and a key of 64 hexadecimal digits, or a multiaddr with /p2p/';
const LISTEN = 'HOST:PORT, a multiaddr such as /ip4/0.0.0.0/tcp/7401, or hyperswarm';
const SEED_BYTES = 32;

/** Where a node listens, by transport. */
interface Places {
  readonly websocket?: { readonly host: string; readonly port: number };
  readonly libp2p: readonly string[];
  readonly hyperswarm: boolean;
}

/** What a node reaches others by. */
export interface NodeNetwork {
  readonly transports: readonly Transport[];
  /** Where others find it, instead of where it listens. */
  readonly addresses: readonly string[];
  readonly dial: readonly string[];
  /** Whether what crosses the network can be read by others on the way. */
  readonly isPlain: boolean;
}

/** `tls`: the key and certificate of this machine. */
export interface NetworkDeps {
  readonly keys: SigningKeyPair;
  readonly tls: { readonly key?: string; readonly cert?: string } | undefined;
}

/**
 * Makes the transports that the options need: by the addresses of `--peer`, the places of `--peer-listen`, and Hyperswarm for
 * `--join`; without any of these it listens for WebSockets on this machine. Throws UsageError.
 */
export async function networkOf(options: TypedOptions, { keys, tls }: NetworkDeps): Promise<NodeNetwork> {
  const dial = readList('--peer', options['peer']);
  const places = placesOf(options['peer-listen']);
  const wanted = new Map<Kind, string>();
  const want = (kind: Kind, option: string): unknown => wanted.has(kind) || wanted.set(kind, option);
  if (places.websocket !== undefined) want('websocket', '--peer-listen');
  for (const address of dial) want(kindOf('--peer', address), '--peer');
  if (places.libp2p.length > 0) want('libp2p', '--peer-listen');
  if (places.hyperswarm) want('hyperswarm', '--peer-listen');
  if (options['join'] !== undefined) want('hyperswarm', '--join');
  if (wanted.size === 0) want('websocket', '--node');
  const addresses = readList('--peer-address', options['peer-address']);
  for (const address of addresses)
    if (!wanted.has(kindOf('--peer-address', address)))
      throw new UsageError(
        `Option "--peer-address" is "${address}", expected an address of ${[...wanted.keys()].join(' or ')}`,
      );
  const bootstrap = bootstrapOf(options, wanted);
  for (const [kind, option] of wanted) requirePackages(kind, option);
  const seed = (kind: Kind): Uint8Array => seedOf(keys, kind);
  const make: Record<Kind, () => Promise<Transport>> = {
    websocket: async () =>
      (await import('orrery/websocket')).webSocket({ ...places.websocket, ...(tls && { tls }) }),
    hyperswarm: async () =>
      (await import('orrery/hyperswarm')).hyperSwarm({ seed: seed('hyperswarm'), ...bootstrap }),
    libp2p: async () =>
      (await import('orrery/libp2p')).libp2p({
        seed: seed('libp2p'),
        ...(places.libp2p.length > 0 && { listen: [...places.libp2p] }),
      }),
  };
  const { host } = places.websocket ?? { host: '127.0.0.1' };
  return {
    transports: await Promise.all([...wanted.keys()].map((kind) => made(make[kind], options))),
    addresses,
    dial,
    isPlain: (tls === undefined && !isLoopback(host)) || dial.some((address) => isPlainElsewhere(address)),
  };
}

const isLoopback = (host: string): boolean => /^(?:localhost|\[?::1\]?|127(?:\.\d{1,3}){3})$/.test(host);
const isPlainElsewhere = (address: string): boolean =>
  address.startsWith('ws:') && !isLoopback(new URL(address).hostname);

function kindOf(option: string, address: string): Kind {
  if (/^wss?:\/\//.test(address) && URL.canParse(address)) return 'websocket';
  if (/^hyperswarm:[0-9a-f]{64}$/i.test(address)) return 'hyperswarm';
  if (/^\/.+\/p2p\/[^/]+/.test(address)) return 'libp2p';
  throw new UsageError(`Option "${option}" is "${address}", expected ${ADDRESS}`);
}

function placesOf(value: string | true | undefined): Places {
  let websocket: Places['websocket'];
  const libp2p: string[] = [];
  let hyperswarm = false;
  for (const place of readList('--peer-listen', value)) {
    const [, host, digits] = /^(\[[^\]]+\]|[^:/[\]]+):(\d{1,5})$/.exec(place) ?? [];
    const port = Number(digits);
    if (place === 'hyperswarm') hyperswarm = true;
    else if (place.startsWith('/')) libp2p.push(place);
    else if (host === undefined || port > 65_535)
      throw new UsageError(`Option "--peer-listen" is "${place}", expected ${LISTEN}`);
    else if (websocket !== undefined)
      throw new UsageError(`Option "--peer-listen" is "${value}", expected one HOST:PORT at most`);
    else websocket = { host: host.replace(/^\[|\]$/g, ''), port };
  }
  return { ...(websocket && { websocket }), libp2p, hyperswarm };
}

/** Nodes of the DHT that are asked first. A DHT on this machine alone is reached from this machine. */
function bootstrapOf(
  options: TypedOptions,
  wanted: ReadonlyMap<Kind, string>,
): { bootstrap?: string[]; host?: string } {
  const value = options['peer-bootstrap'];
  if (value === undefined) return {};
  const bootstrap = readList('--peer-bootstrap', value);
  for (const place of bootstrap)
    if (!/^[^:\s]+:\d{1,5}$/.test(place))
      throw new UsageError(`Option "--peer-bootstrap" is "${place}", expected HOST:PORT`);
  if (!wanted.has('hyperswarm'))
    throw new UsageError('Option "--peer-bootstrap" is given without "--join" or an address of Hyperswarm');
  const isHere = bootstrap.every((place) => isLoopback(place.replace(/:\d+$/, '')));
  return { bootstrap: [...bootstrap], ...(isHere ? { host: '127.0.0.1' } : {}) };
}

function requirePackages(kind: Kind, option: string): void {
  const missing = PACKAGES[kind].filter((name) => !isInstalled(name));
  if (missing.length === 0) return;
  const what = missing.length === 1 ? 'a package that is' : 'packages that are';
  throw new UsageError(`Option "${option}" needs ${what} not installed: npm install ${missing.join(' ')}`);
}

/** The same key of the node gives the same address again, and does not show the key. */
const seedOf = ({ privateKey }: SigningKeyPair, kind: Kind): Uint8Array =>
  new Uint8Array(
    hkdfSync('sha256', privateKey.export({ type: 'pkcs8', format: 'der' }), '', `orrery/${kind}`, SEED_BYTES),
  );

async function made(make: () => Promise<Transport>, options: TypedOptions): Promise<Transport> {
  try {
    return await make();
  } catch (error) {
    if (!isOrreryError(error) || error.code !== 'INVALID_OPTIONS') throw error;
    throw new UsageError(`Option "--peer-listen" is "${options['peer-listen']}": ${error.message}`);
  }
}
