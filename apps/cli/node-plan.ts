import { dirname, join, resolve } from 'node:path';
import { isOrreryError, keyInFile, type PeerOptions, type SigningKeyPair } from 'orrery';
import { type NetworkDeps, networkOf } from './node-transports.ts';
import { readList } from './option-values.ts';
import { makeOwn, stateFolder } from './own-folder.ts';
import type { TypedOptions } from './run-plan.ts';
import { type TrustEntry, TrustFile } from './trust-file.ts';
import { UsageError } from './usage-error.ts';

/** The options that make `orrery up` one node of a team. */
const OPTIONS = [
  'peer',
  'join',
  'peer-key',
  'peer-listen',
  'peer-address',
  'peer-trust',
  'peer-trust-file',
  'peer-bootstrap',
];
/** A name of a node, which files are named after. */
const NAME = /^[^/\s\p{Cc}]{1,64}$/u;
const KEY = /^[\w-]{43}$/;
const MAX_TOPIC = 256;

/** The checked options of `orrery up` as a node. */
export interface NodePlan {
  readonly node: string;
  readonly keyFile: string;
  readonly trustFile: TrustFile;
  readonly peers: PeerOptions;
  /** What `--peer-trust` names although it was revoked. */
  readonly alsoRevoked: readonly string[];
  readonly isPlain: boolean;
}

/** Checks the options before anything starts; undefined if none of them is given. Throws UsageError naming option and value. */
export async function planNode(
  options: TypedOptions,
  tls: NetworkDeps['tls'],
): Promise<NodePlan | undefined> {
  const node = options['node'];
  const given = OPTIONS.find((option) => options[option] !== undefined);
  if (node === undefined && given === undefined) return undefined;
  if (node === undefined)
    throw new UsageError(`Option "--${given}" is given without "--node", the name by which others know this`);
  if (!NAME.test(String(node)))
    throw new UsageError(
      `Option "--node" is "${node}", expected at most 64 characters without white space and "/"`,
    );
  const topic = topicOf(options['join']);
  const asked = readList('--peer-trust', options['peer-trust']).map((text) =>
    readTrusted('--peer-trust', text),
  );
  const folder = join(stateFolder(process.env), 'nodes');
  const placed = (option: string, name: string): string =>
    resolve(String(options[option] ?? join(folder, name)));
  const keyFile = placed('peer-key', `${node}.key.pem`);
  const trustFile = new TrustFile(placed('peer-trust-file', `${node}.trust.json`));
  const { trust, revoked } = trustFile.read();
  const keys = await keysIn(keyFile, folder);
  const { transports, addresses, dial, isPlain } = await networkOf(options, { keys, tls });
  const more = asked.filter(({ key }) => !trust.some((entry) => entry.key === key));
  return {
    node: String(node),
    keyFile,
    trustFile,
    peers: {
      transports,
      addresses,
      identity: { node: String(node), key: keys },
      trust: [...trust, ...more],
      revoked,
      discover: { dial, ...(topic === undefined ? {} : { topic }) },
    },
    alsoRevoked: asked.flatMap(({ key }) => (revoked.includes(key) ? [key] : [])),
    isPlain,
  };
}

/** Reads KEY or KEY=NAME: a node that is let in as a member of the team. Throws UsageError. */
export function readTrusted(option: string, text: string): TrustEntry {
  const [key = '', node, ...others] = text.split('=');
  if (!KEY.test(key) || others.length > 0 || (node !== undefined && !NAME.test(node)))
    throw new UsageError(
      `Option "${option}" is "${text}", expected KEY or KEY=NAME, with the key that 'orrery up' prints on the other machine`,
    );
  return { key, ...(node === undefined ? {} : { node }), tier: 2, sandboxId: null };
}

function topicOf(value: string | true | undefined): string | undefined {
  if (value === undefined) return undefined;
  if (String(value).length <= MAX_TOPIC) return String(value);
  throw new UsageError(`Option "--join" is "${value}", expected at most ${MAX_TOPIC} characters`);
}

async function keysIn(path: string, folder: string): Promise<SigningKeyPair> {
  try {
    if (dirname(path) === folder) makeOwn(folder);
    return await keyInFile(path);
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw new UsageError(`Option "--peer-key" is "${path}": ${why}`);
  }
}

/** Converts INVALID_OPTIONS of a node that is to start to a UsageError that names the option. */
export function refusalOfNode(
  error: unknown,
  { trustFile, peers, node }: NodePlan,
  options: TypedOptions,
): unknown {
  if (!isOrreryError(error) || error.code !== 'INVALID_OPTIONS') return error;
  const field = String(error.details['field']);
  const expected = String(error.details['expected']);
  const [, at] = /^peers\.trust[.[](\d+)/.exec(field) ?? [];
  if (at !== undefined) {
    const { key = '' } = peers.trust?.[Number(at)] ?? {};
    const isOfFile = trustFile.read().trust.some((entry) => entry.key === key);
    return new UsageError(
      isOfFile
        ? `Option "--peer-trust-file" is "${trustFile.path}": ${error.message}`
        : `Option "--peer-trust" is "${key}", expected ${expected}`,
    );
  }
  if (field.startsWith('peers.revoked'))
    return new UsageError(`Option "--peer-trust-file" is "${trustFile.path}": ${error.message}`);
  if (field.startsWith('peers.addresses'))
    return new UsageError(`Option "--peer-address" is "${options['peer-address']}", expected ${expected}`);
  if (field.startsWith('peers.identity'))
    return new UsageError(`Option "--node" is "${node}", expected ${expected}`);
  if (/^(?:webSocket|hyperSwarm|libp2p)\./.test(field)) {
    const place = options['peer-listen'];
    return new UsageError(`Option "--peer-listen" is "${place ?? 'its default'}": ${error.message}`);
  }
  return error;
}
