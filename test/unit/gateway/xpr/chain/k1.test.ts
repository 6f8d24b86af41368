import { secp256k1 } from '@noble/curves/secp256k1.js';
import fc from 'fast-check';
import { createHash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { publicKeyOfPrivate, recoverK1, signK1 } from '../../../../../gateway/xpr/chain/k1-signature.ts';
import {
  privateKeyOf,
  publicKeyOf,
  publicKeyText,
  signatureOf,
} from '../../../../../gateway/xpr/chain/k1-text.ts';
import { wifOf } from '../../../../fixtures/k1-keys.ts';

/** The development key that Antelope documents, in every text of it. */
const WIF = '5KQwrPbwdL6PhXujxW37FSSQZ1JiwsST4cqQzDeyXtP79zkvFD3';
const LEGACY = 'EOS6MRyAjQq8ud7hVNYcfnVPJqcVpscN5So8BhtHuGYqET5GDW5CV';
const PUBLIC = 'PUB_K1_6MRyAjQq8ud7hVNYcfnVPJqcVpscN5So8BhtHuGYqET5BoDq63';

const arbDigest = fc.uint8Array({ minLength: 32, maxLength: 32 });
const sha256 = (bytes: Uint8Array): Buffer => createHash('sha256').update(bytes).digest();

describe('Keys of Antelope chains', () => {
  it('are read in all their texts', () => {
    expect(publicKeyOfPrivate(WIF)).toBe(PUBLIC);
    expect(publicKeyText(publicKeyOf(LEGACY) as Uint8Array)).toBe(PUBLIC);
    expect(publicKeyText(publicKeyOf(PUBLIC) as Uint8Array)).toBe(PUBLIC);
    expect(Buffer.from(privateKeyOf(WIF) as Uint8Array).toString('hex')).toMatch(/^d2653ff7cbb2d8ff/);
  });

  it('are none with any character changed', () => {
    const readers = [
      [WIF, privateKeyOf],
      [LEGACY, publicKeyOf],
      [PUBLIC, publicKeyOf],
    ] as const;
    fc.assert(
      fc.property(
        fc.constantFrom(...readers),
        fc.nat(200),
        fc.constantFrom(...'1zK9'),
        ([text, read], where, other) => {
          const at = where % text.length;
          fc.pre(text[at] !== other);
          expect(read(text.slice(0, at) + other + text.slice(at + 1))).toBeUndefined();
        },
      ),
      { numRuns: 300 },
    );
    for (const text of ['', 'PUB_K1_', 'PUB_R1_x', 'EOS', '0OIl', 'x'.repeat(1_000_000)])
      expect([privateKeyOf(text), publicKeyOf(text), signatureOf(text)]).toEqual([
        undefined,
        undefined,
        undefined,
      ]);
  });
});

describe('Signatures of Antelope chains (X-09, X-12)', () => {
  it('recover the key that made them, from the digest that was signed and from no other', () => {
    fc.assert(
      fc.property(arbDigest, arbDigest, arbDigest, (secret, digest, other) => {
        fc.pre(secp256k1.utils.isValidSecretKey(secret));
        const wif = wifOf(secret);
        const signature = signK1(digest, wif);
        expect(recoverK1(digest, signature)).toBe(publicKeyOfPrivate(wif));
        if (Buffer.compare(digest, other) !== 0)
          expect(recoverK1(other, signature)).not.toBe(publicKeyOfPrivate(wif));
        const [header = 0, ...rest] = signatureOf(signature) as Uint8Array;
        expect([31, 32, 33, 34]).toContain(header);
        for (const at of [0, 32]) {
          const [first = 0, second = 0] = rest.slice(at, at + 2);
          expect(first < 0x80 && (first > 0 || second >= 0x80)).toBe(true);
        }
      }),
      { numRuns: 100 },
    );
  });

  it('are the same each time', () => {
    const digest = sha256(Buffer.from('x'));
    expect(signK1(digest, WIF)).toBe(signK1(digest, WIF));
  });

  it('are made with a key only, which no error shows', () => {
    const digest = new Uint8Array(32);
    const wrong = `${WIF.slice(0, -1)}4`;
    expect(() => signK1(digest, wrong)).toThrow('signingKey');
    expect(() => signK1(digest, wrong)).not.toThrow(wrong);
    expect(() => publicKeyOfPrivate(wifOf(new Uint8Array(32)))).toThrow('signingKey');
  });

  it('are nobody’s when they are none', () => {
    const digest = new Uint8Array(32);
    const signature = signK1(digest, WIF);
    for (const text of ['', 'SIG_K1_', signature.slice(0, -1), `SIG_R1_${signature.slice(7)}`])
      expect(recoverK1(digest, text)).toBeUndefined();
  });
});
