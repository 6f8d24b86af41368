import { createHash, createPublicKey, verify } from 'node:crypto';
import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { amidOf, didOf, isAmid } from '../../../../gateway/agentmesh/amid.ts';
import { loadIdentity, openIdentity } from '../../../../gateway/agentmesh/identity.ts';
import type { AgentMeshEvent } from '../../../../gateway/agentmesh/mesh-event.ts';
import { systemClock } from '../../../../runtime/protocol/system-seams.ts';

const NOW_MS = Date.UTC(2026, 0, 2);
const clock = { ...systemClock, now: () => NOW_MS };

let folder = '';
let file = '';
let events: AgentMeshEvent[] = [];
const onEvent = (event: AgentMeshEvent): number => events.push(event);
const open = () => openIdentity(clock, { file, onEvent });
const fields = (): Record<string, string> => JSON.parse(readFileSync(file, 'utf8'));
const change = (changes: Record<string, unknown>): string => {
  const text = JSON.stringify({ ...fields(), ...changes });
  writeFileSync(file, text);
  return text;
};
const keysIn = ({ signing_private_key, exchange_private_key }: Record<string, string>): string[] =>
  [signing_private_key, exchange_private_key].map((text) => String(text).replace(/^\w+:/, ''));

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'orrery-identity-'));
  file = join(folder, 'keys', 'identity.json');
  events = [];
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

describe('amidOf', () => {
  // base58 of the first 20 bytes of SHA-256 of 32 zero bytes, 66687aadf862bd776c8fc18b8e9f8e2008971485.
  it('is the one that the specification gives', () => {
    const zeros = new Uint8Array(32);
    const digits = '123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz';
    let number = BigInt(`0x${createHash('sha256').update(zeros).digest('hex').slice(0, 40)}`);
    let text = '';
    for (; number > 0n; number /= 58n) text = `${digits[Number(number % 58n)]}${text}`;
    expect(amidOf(zeros)).toBe(text);
    expect(isAmid(text)).toBe(true);
    expect(didOf(text)).toBe(`did:agentmesh:${text}`);
  });

  it.each([0, 31, 33])('refuses a key of %s bytes', (length) => {
    expect(() => amidOf(new Uint8Array(length))).toThrow(/^signingPublicKey is /);
  });

  it.each(['', '0', 'l'.repeat(27), '1'.repeat(40), 'a'.repeat(100_000)])('is not %.20s', (text) => {
    expect(isAmid(text)).toBe(false);
  });
});

describe('openIdentity', () => {
  it('makes a file that only its owner may read, in a folder that only they may enter, with prefixed keys (M-05)', () => {
    const { amid } = open();
    expect(statSync(file).mode & 0o777).toBe(0o600);
    expect(statSync(dirname(file)).mode & 0o777).toBe(0o700);
    const written = fields();
    expect(written).toMatchObject({
      amid,
      created_at: '2026-01-02T00:00:00.000Z',
      framework: 'orrery',
    });
    expect(written['signing_public_key']).toMatch(/^ed25519:[A-Za-z0-9+/]{43}=$/);
    expect(written['signing_private_key']).toMatch(/^ed25519:[A-Za-z0-9+/]{43}=$/);
    expect(written['exchange_public_key']).toMatch(/^x25519:[A-Za-z0-9+/]{43}=$/);
    expect(written['exchange_private_key']).toMatch(/^x25519:[A-Za-z0-9+/]{43}=$/);
    expect(readdirSync(dirname(file))).toEqual(['identity.json']);
    expect(events).toEqual([]);
  });

  it('is the same identity when it is opened again, and signs with its key', () => {
    const made = open();
    const again = open();
    expect(again).toMatchObject({ amid: made.amid, did: made.did, createdAtMs: NOW_MS });
    const bytes = Buffer.from('a text');
    const publicKey = createPublicKey(made.signingPrivateKey);
    expect(verify(null, bytes, publicKey, again.sign(bytes))).toBe(true);
  });

  it('reads keys with or without prefix (M-06), and tells of each without one (M-07)', () => {
    const { amid } = open();
    const bare = Object.entries(fields()).map(([name, value]) => [name, value.replace(/^(ed|x)25519:/, '')]);
    writeFileSync(file, JSON.stringify(Object.fromEntries(bare)));
    expect(open().amid).toBe(amid);
    expect(events.map(({ kind }) => kind)).toEqual(Array(4).fill('key.unprefixed'));
    expect(events.map(({ details }) => details['field']).sort()).toEqual([
      'exchange_private_key',
      'exchange_public_key',
      'signing_private_key',
      'signing_public_key',
    ]);
    expect(events[0]?.reason).toContain('deprecated');
  });

  it.each([
    ['signing_public_key', (text: string) => text.replace('ed25519:', 'x25519:')],
    ['signing_private_key', (text: string) => text.replace('ed25519:', 'x25519:')],
    ['exchange_public_key', (text: string) => text.replace('x25519:', 'ed25519:')],
    ['exchange_private_key', (text: string) => text.replace('x25519:', 'rsa:')],
    ['signing_public_key', (text: string) => text.slice(0, -5)],
    ['signing_private_key', () => undefined],
    ['exchange_private_key', () => 7],
    ['signing_public_key', () => `ed25519:${Buffer.alloc(32, 7).toString('base64')}`],
    ['exchange_public_key', () => `x25519:${Buffer.alloc(32, 7).toString('base64')}`],
    ['amid', () => '11111111111111111111'],
    ['amid', () => undefined],
    ['created_at', () => 'yesterday'],
    ['framework', () => 3],
  ])(
    'refuses a file whose %s is not what it was, names it, tells no private key, and leaves it',
    (field, changed) => {
      open();
      const secrets = keysIn(fields());
      const text = change({ [field]: changed(fields()[field] ?? '') });
      expect(open).toThrow(new RegExp(`^The identity file .* cannot be used: ${field} is `));
      try {
        open();
      } catch (error) {
        expect(error).toMatchObject({ code: 'STORE_INVALID', details: { file, field } });
        for (const secret of secrets)
          expect(JSON.stringify([String(error), error])).not.toContain(secret.slice(0, 20));
      }
      expect(readFileSync(file, 'utf8')).toBe(text);
    },
  );

  it.each(['', '{', 'null', '[]', '"text"', '0'.repeat(70_000)])(
    'leaves a file as it is that holds %.20s',
    (text) => {
      mkdirSync(dirname(file), { mode: 0o700 });
      writeFileSync(file, text, { mode: 0o600 });
      expect(open).toThrow(/^The identity file .* cannot be used/);
      expect(readFileSync(file, 'utf8')).toBe(text);
    },
  );

  it.each([0o644, 0o640, 0o602])('refuses a file of mode %o: others may use it', (mode) => {
    open();
    chmodSync(file, mode);
    expect(open).toThrow(/its mode is 0\d{3}, expected 0600/);
  });

  it('refuses a folder that others may write to, and tells of one that they may only see', () => {
    open();
    chmodSync(dirname(file), 0o770);
    expect(open).toThrow(/the mode of its folder is 0770/);
    chmodSync(dirname(file), 0o755);
    rmSync(file);
    open();
    expect(events.map(({ kind }) => kind)).toEqual(['directory.exposed']);
  });

  it('refuses a symbolic link, and a folder in its place', () => {
    open();
    const link = join(dirname(file), 'link.json');
    symlinkSync(file, link);
    expect(() => openIdentity(clock, { file: link })).toThrow(/it is a symbolic link/);
    expect(() => openIdentity(clock, { file: dirname(file) })).toThrow(/it is no regular file|EISDIR/);
  });

  it('fails with what the system says where it cannot write', () => {
    writeFileSync(join(folder, 'keys'), '');
    expect(open).toThrow(expect.objectContaining({ code: 'STORE_FAILED' }));
  });
});

describe('loadIdentity', () => {
  it('makes nothing where there is no file', () => {
    expect(() => loadIdentity({ file })).toThrow(/there is no such file/);
    expect(readdirSync(folder)).toEqual([]);
  });
});
