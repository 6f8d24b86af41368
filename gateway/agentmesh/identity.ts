import {
  createPrivateKey,
  createPublicKey,
  generateKeyPairSync,
  type KeyObject,
  sign as signWith,
} from 'node:crypto';
import { statSync } from 'node:fs';
import { homedir } from 'node:os';
import { dirname, join } from 'node:path';
import { describeValue } from '../../runtime/protocol/describe-value.ts';
import { isOrreryError, OrreryError, reasonOf } from '../../runtime/protocol/errors.ts';
import type { Clock } from '../../runtime/protocol/seams.ts';
import type { SigningKeyPair } from '../../runtime/protocol/signing.ts';
import { amidOf, didOf } from './amid.ts';
import { type KeyAlgorithm, keyText, readKeyText } from './key-text.ts';
import { type OnAgentMeshEvent, warnOfEvent } from './mesh-event.ts';
import { codeOf, makePrivateFolder, readWhole, writeWhole } from './private-file.ts';

/**
 * Who an agent of AgentMesh is.
 *
 * - `signingPublicKey`, `exchangePublicKey` with their prefixes.
 * - `createdAtMs`                           Unix milliseconds.
 * - `keys`                                  with which a node of Orrery proves that it is this one.
 * - `sign`                                  an Ed25519 signature, 64 bytes.
 */
export interface AgentMeshIdentity {
  readonly amid: string;
  readonly did: string;
  readonly signingPublicKey: string;
  readonly exchangePublicKey: string;
  readonly signingPrivateKey: KeyObject;
  readonly exchangePrivateKey: KeyObject;
  readonly createdAtMs: number;
  readonly framework: string;
  readonly frameworkVersion: string;
  readonly keys: SigningKeyPair;
  sign(bytes: Uint8Array): Uint8Array;
}

/**
 * - `file`      @default ~/.agentmesh/keys/identity.json
 * - `framework`, `frameworkVersion` are written into a new file. @default orrery, 0.1.0
 * - `onEvent`   hears of keys without a prefix, and of a folder that others may see. @default a warning of the process
 */
export interface IdentityOptions {
  readonly file?: string;
  readonly framework?: string;
  readonly frameworkVersion?: string;
  readonly onEvent?: OnAgentMeshEvent;
}

/** Where AgentMesh keeps an agent's identity. */
export const identityFile = (): string => join(homedir(), '.agentmesh', 'keys', 'identity.json');

/**
 * The identity in the file; where there is none, a new one that the file then has. Of two processes that make one at once, both
 * get the same. A file that cannot be used stays as it is.
 *
 * Throws STORE_INVALID naming file, field and value: for a wrong field, and for a file that others may read, or a folder that
 * others may write to. Throws STORE_FAILED if the file cannot be read or written.
 */
export function openIdentity(clock: Clock, options: IdentityOptions = {}): AgentMeshIdentity {
  const { file = identityFile() } = options;
  return attempt(file, 'open', () => {
    const known = load(file, options);
    if (known !== undefined) return known;
    makePrivateFolder(dirname(file));
    // What others may see of it is told when the file is read.
    requireOwnFolder(file, { onEvent: () => {} });
    try {
      writeWhole(file, newIdentityText(clock, options), { isNew: true });
    } catch (error) {
      if (codeOf(error) !== 'EEXIST') throw error;
    }
    return load(file, options) ?? invalid(file, 'it was removed while it was made');
  });
}

/** The identity in the file. Throws as `openIdentity` does, and STORE_INVALID if there is no file. */
export function loadIdentity(options: IdentityOptions = {}): AgentMeshIdentity {
  const { file = identityFile() } = options;
  return attempt(file, 'read', () => load(file, options) ?? invalid(file, 'there is no such file'));
}

const MAX_BYTES = 65_536;

function load(file: string, options: IdentityOptions): AgentMeshIdentity | undefined {
  const found = readWhole(file, MAX_BYTES);
  if (found === undefined) return undefined;
  if (found === 'no-file') return invalid(file, 'it is no regular file');
  if (found === 'too-large') return invalid(file, `it has more than ${MAX_BYTES} bytes`);
  requireUnshared(file, found.stats.mode);
  requireOwnFolder(file, options);
  return read(file, found.text, options);
}

function newIdentityText(
  clock: Clock,
  { framework = 'orrery', frameworkVersion = '0.1.0' }: IdentityOptions,
): string {
  const signing = generateKeyPairSync('ed25519').privateKey;
  const exchange = generateKeyPairSync('x25519').privateKey;
  const signingPublic = publicBytes(signing);
  const fields = {
    amid: amidOf(signingPublic),
    signing_private_key: keyText('ed25519', privateBytes(signing)),
    signing_public_key: keyText('ed25519', signingPublic),
    exchange_private_key: keyText('x25519', privateBytes(exchange)),
    exchange_public_key: keyText('x25519', publicBytes(exchange)),
    created_at: new Date(clock.now()).toISOString(),
    framework,
    framework_version: frameworkVersion,
  };
  return `${JSON.stringify(fields, null, 2)}\n`;
}

function read(file: string, text: string, { onEvent = warnOfEvent }: IdentityOptions): AgentMeshIdentity {
  const fields = fieldsOf(file, text);
  const key = (field: string, algorithm: KeyAlgorithm): Uint8Array => {
    const reading = readKeyText(algorithm, fields[field]);
    if ('fault' in reading) return wrongField(file, field, fields[field], reading.fault);
    if (!reading.isPrefixed) {
      const reason = `${field} of the identity file ${file} has no prefix "${algorithm}:"; keys without one are deprecated`;
      onEvent({ kind: 'key.unprefixed', reason, details: { file, field } });
    }
    return reading.key;
  };
  const signing = privateKeyFrom('ed25519', key('signing_private_key', 'ed25519'));
  const exchange = privateKeyFrom('x25519', key('exchange_private_key', 'x25519'));
  const requirePublic = (field: string, algorithm: KeyAlgorithm, own: KeyObject): string => {
    const derived = keyText(algorithm, publicBytes(own));
    if (keyText(algorithm, key(field, algorithm)) !== derived)
      return wrongField(file, field, fields[field], `${derived}, which belongs to the private key`);
    return derived;
  };
  const signingPublicKey = requirePublic('signing_public_key', 'ed25519', signing);
  const exchangePublicKey = requirePublic('exchange_public_key', 'x25519', exchange);
  const amid = amidOf(publicBytes(signing));
  if (fields['amid'] !== amid) wrongField(file, 'amid', fields['amid'], `${amid}, which belongs to the key`);
  return {
    amid,
    did: didOf(amid),
    signingPublicKey,
    exchangePublicKey,
    signingPrivateKey: signing,
    exchangePrivateKey: exchange,
    createdAtMs: timeOf(file, fields['created_at']),
    framework: textOf(file, 'framework', fields['framework']),
    frameworkVersion: textOf(file, 'framework_version', fields['framework_version']),
    keys: {
      publicKey: Buffer.from(publicBytes(signing)).toString('base64url'),
      privateKey: signing,
    },
    sign: (bytes) => new Uint8Array(signWith(null, bytes, signing)),
  };
}

function fieldsOf(file: string, text: string): Readonly<Record<string, unknown>> {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    // What the parser says may quote a key.
    return invalid(file, 'it is not JSON');
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    return invalid(file, 'it holds no object');
  return value as Record<string, unknown>;
}

/** Old files have neither: they say nothing of who made them. */
function textOf(file: string, field: string, value: unknown): string {
  if (value === undefined) return 'unknown';
  return typeof value === 'string' ? value : wrongField(file, field, value, 'a text');
}

function timeOf(file: string, value: unknown): number {
  const atMs = typeof value === 'string' ? Date.parse(value) : Number.NaN;
  return Number.isNaN(atMs) ? wrongField(file, 'created_at', value, 'a time as ISO 8601 has it') : atMs;
}

/** Rights have no such bits on Windows. */
const hasModes = process.platform !== 'win32';

const octal = (mode: number): string => `0${(mode & 0o777).toString(8)}`;

function requireUnshared(file: string, mode: number): void {
  if (hasModes && (mode & 0o077) !== 0)
    invalid(file, `its mode is ${octal(mode)}, expected 0600: others may read the private keys (chmod 600)`);
}

function requireOwnFolder(file: string, { onEvent = warnOfEvent }: IdentityOptions): void {
  if (!hasModes) return;
  const folder = dirname(file);
  const { mode } = statSync(folder);
  if ((mode & 0o022) !== 0)
    invalid(
      file,
      `the mode of its folder is ${octal(mode)}, expected 0700: others may put another file there`,
    );
  if ((mode & 0o055) === 0) return;
  const reason = `The mode of ${folder} is ${octal(mode)}, expected 0700: others may see which files it has`;
  onEvent({ kind: 'directory.exposed', reason, details: { folder, mode: octal(mode) } });
}

/** What stands before the 32 bytes of a private key in PKCS #8 (RFC 8410). */
const PKCS8: Readonly<Record<KeyAlgorithm, string>> = {
  ed25519: '302e020100300506032b657004220420',
  x25519: '302e020100300506032b656e04220420',
};

const privateKeyFrom = (algorithm: KeyAlgorithm, key: Uint8Array): KeyObject =>
  createPrivateKey({
    key: Buffer.concat([Buffer.from(PKCS8[algorithm], 'hex'), key]),
    format: 'der',
    type: 'pkcs8',
  });

const rawOf = (text: string | undefined): Uint8Array => new Uint8Array(Buffer.from(text ?? '', 'base64url'));
const privateBytes = (key: KeyObject): Uint8Array => rawOf(key.export({ format: 'jwk' }).d);
const publicBytes = (key: KeyObject): Uint8Array => rawOf(createPublicKey(key).export({ format: 'jwk' }).x);

function invalid(file: string, reason: string, facts: Readonly<Record<string, string>> = {}): never {
  throw new OrreryError('STORE_INVALID', `The identity file ${file} cannot be used: ${reason}`, {
    details: { file, reason, ...facts },
  });
}

/** A private key is not told. */
function wrongField(file: string, field: string, value: unknown, expected: string): never {
  const shown =
    value === undefined ? 'missing' : describeValue(value, /private/.test(field) ? 'secret' : field);
  return invalid(file, `${field} is ${shown}, expected ${expected}`, { field, value: shown });
}

function attempt<Result>(file: string, operation: string, run: () => Result): Result {
  try {
    return run();
  } catch (error) {
    if (isOrreryError(error)) throw error;
    if (codeOf(error) === 'ELOOP') return invalid(file, 'it is a symbolic link');
    const reason = reasonOf(error);
    throw new OrreryError('STORE_FAILED', `The identity file ${file} failed to ${operation}: ${reason}`, {
      details: { file, operation, reason },
      cause: error,
    });
  }
}
