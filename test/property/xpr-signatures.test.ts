import { secp256k1 } from '@noble/curves/secp256k1.js';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  createA2ADigest,
  recoverA2APublicKey,
  signA2ARequest,
  hashBody,
  XPR_HEADERS,
  signRequest,
} from '../../gateway/xpr/chain/sign-request.ts';
import { publicKeyOfPrivate } from '../../gateway/xpr/chain/k1-signature.ts';
import { xprSignature } from '../../gateway/xpr/admit/xpr-signature.ts';
import type { EdgeRequest } from '../../runtime/protocol/admission.ts';
import { FakeClock } from '../fixtures/fake-clock.ts';
import { wifOf } from '../fixtures/k1-keys.ts';

const NOW = 1_704_067_200_000;
const arbKey = fc
  .uint8Array({ minLength: 32, maxLength: 32 })
  .filter((secret) => secp256k1.utils.isValidSecretKey(secret))
  .map(wifOf);
const arbAccount = fc.stringMatching(/^[a-z1-5]{1,12}$/);
const arbBody = fc.uint8Array({ maxLength: 300 });
const arbOurs = fc.record(
  { audience: fc.constantFrom('https://here.example', 'bob'), nonce: fc.stringMatching(/^[!-~]{1,20}$/) },
  { requiredKeys: [] },
);

async function isIn(request: EdgeRequest, account: string, key: string): Promise<boolean> {
  const accounts = {
    activeKeys: async (asked: string) => (asked === account ? [publicKeyOfPrivate(key)] : []),
  };
  const { authenticate } = xprSignature({}, { clock: new FakeClock(NOW), accounts });
  return authenticate(request).then(
    (principal) => principal?.id === `xpr:${account}`,
    () => false,
  );
}

const requestOf = (headers: Record<string, string>, body: Uint8Array): EdgeRequest => ({
  method: 'POST',
  url: 'https://here.example/a2a',
  headers: new Headers(headers),
  body,
});

describe('Signed requests', () => {
  it('are let in whatever their body, account, key, audience and nonce (X-09, X-12)', async () => {
    await fc.assert(
      fc.asyncProperty(arbKey, arbAccount, arbBody, arbOurs, async (signingKey, account, body, ours) => {
        const headers = signRequest({ account, signingKey, body, atMs: NOW, ...ours });
        expect(await isIn(requestOf(headers, body), account, signingKey)).toBe(true);
      }),
      { numRuns: 100 },
    );
  });

  it('are refused with any one bit of the body flipped (X-15)', async () => {
    await fc.assert(
      fc.asyncProperty(
        arbKey,
        arbAccount,
        fc.uint8Array({ minLength: 1, maxLength: 300 }),
        fc.nat(),
        fc.nat(7),
        async (signingKey, account, body, where, bit) => {
          const headers = signRequest({ account, signingKey, body, atMs: NOW });
          const other = body.slice();
          const at = where % body.length;
          other[at] = (other[at] as number) ^ (1 << bit);
          expect(await isIn(requestOf(headers, other), account, signingKey)).toBe(false);
        },
      ),
      { numRuns: 200 },
    );
  });

  it('are refused with any one character of a header changed (X-10, X-15)', async () => {
    await fc.assert(
      fc.asyncProperty(
        arbKey,
        arbAccount,
        arbBody,
        fc.constantFrom(...Object.values(XPR_HEADERS)),
        fc.nat(),
        fc.stringMatching(/^[!-~]$/),
        async (signingKey, account, body, header, where, character) => {
          const ours = { audience: 'https://here.example', nonce: 'one' };
          const headers = signRequest({ account, signingKey, body, atMs: NOW, ...ours });
          const value = headers[header] ?? '';
          const at = where % value.length;
          fc.pre(value[at] !== character);
          const changed = { ...headers, [header]: value.slice(0, at) + character + value.slice(at + 1) };
          expect(await isIn(requestOf(changed, body), account, signingKey)).toBe(false);
        },
      ),
      { numRuns: 300 },
    );
  });
});

describe('The steps of signing, by the names that XPR has for them (X-09)', () => {
  it('are those of a signed request without anything of ours', () => {
    fc.assert(
      fc.property(arbKey, arbAccount, arbBody, fc.nat(2e9), (key, account, body, timestamp) => {
        const headers = signRequest({ account, signingKey: key, body, atMs: timestamp * 1_000 });
        const bodyHash = hashBody(body);
        const signature = signA2ARequest(key, account, timestamp, bodyHash);
        expect(signature).toBe(headers['X-XPR-Signature']);
        expect(recoverA2APublicKey(signature, account, timestamp, bodyHash)).toBe(publicKeyOfPrivate(key));
        expect(recoverA2APublicKey(signature, account, timestamp + 1, bodyHash)).not.toBe(
          publicKeyOfPrivate(key),
        );
        expect(createA2ADigest(account, timestamp, bodyHash)).toMatch(/^[0-9a-f]{64}$/);
      }),
      { numRuns: 100 },
    );
  });

  it('are what the seed writes down', () => {
    // Worked out with another implementation of SHA-256: printf 'alice\n1704067200\n<hash of {}>' | sha256sum.
    expect(hashBody('{}')).toBe('44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a');
    expect(createA2ADigest('alice', 1_704_067_200, hashBody('{}'))).toBe(
      'ad99648c934a1b0c42dd501fdce3c60689232b8028caabbda3c6c4d5df5265a2',
    );
  });
});
