import { secp256k1 } from '@noble/curves/secp256k1.js';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { publicKeyOfPrivate } from '../../../../../gateway/xpr/chain/k1-signature.ts';
import { signatureOf, signatureText } from '../../../../../gateway/xpr/chain/k1-text.ts';
import { type RequestSigning, signRequest } from '../../../../../gateway/xpr/chain/sign-request.ts';
import { type XprSignatureOptions, xprSignature } from '../../../../../gateway/xpr/admit/xpr-signature.ts';
import { edgeRequest } from '../../../../fixtures/edge-request.ts';
import { FakeClock } from '../../../../fixtures/fake-clock.ts';
import { ALICES_KEY, BOBS_KEY } from '../../../../fixtures/k1-keys.ts';
import { rejection } from '../../../../fixtures/until.ts';

const BODY = '{"jsonrpc":"2.0","id":1,"method":"tasks/get","params":{"id":"t"}}';
const MINUTE = 60_000;

function setUp(options: XprSignatureOptions = {}) {
  const clock = new FakeClock(1_704_067_200_000);
  const keys = new Map([['alice', [publicKeyOfPrivate(ALICES_KEY)]]]);
  const asked: string[] = [];
  const accounts = {
    activeKeys: async (account: string) => {
      asked.push(account);
      return keys.get(account) ?? [];
    },
  };
  const auth = xprSignature(options, { clock, accounts });
  const headers = (changes: Partial<RequestSigning> = {}) =>
    signRequest({
      account: 'alice',
      signingKey: ALICES_KEY,
      body: new TextEncoder().encode(BODY),
      atMs: clock.now(),
      ...changes,
    });
  const sent = (signed: Record<string, string>, body = BODY) => auth.authenticate(edgeRequest(signed, body));
  const refused = async (signed: Record<string, string>, body = BODY) => {
    const { code, message } = await rejection(sent(signed, body));
    expect(code).toBe('UNAUTHENTICATED');
    return message;
  };
  return { clock, keys, asked, headers, sent, refused };
}

describe('A request that is signed with an account’s key', () => {
  it('is from that account, whatever its body says (X-09, X-10, X-12)', async () => {
    const { headers, sent } = setUp();
    const body = '{"params":{"xpr:callerAccount":"mallory"}}';
    const signed = headers({ body: new TextEncoder().encode(body) });
    expect(await sent(signed, body)).toMatchObject({ id: 'xpr:alice', kind: 'agent' });
  });

  it('is refused with any bit of the body, the account or the time changed (X-15)', async () => {
    const { headers, refused } = setUp();
    const signed = headers();
    await fc.assert(
      fc.asyncProperty(fc.nat(BODY.length - 1), fc.integer({ min: 1, max: 126 }), async (at, change) => {
        const other = String.fromCharCode(BODY.charCodeAt(at) ^ change);
        await refused(signed, BODY.slice(0, at) + other + BODY.slice(at + 1));
      }),
      { numRuns: 100 },
    );
    await refused({ ...signed, 'X-XPR-Account': 'bob' });
    await refused({ ...signed, 'X-XPR-Timestamp': String(Number(signed['X-XPR-Timestamp']) + 1) });
    await refused(signed, '');
  });

  it('is refused with another key, and with one that was withdrawn, within five minutes of that (X-12, X-13, X-14)', async () => {
    const { clock, keys, asked, headers, sent, refused } = setUp();
    await refused(headers({ signingKey: BOBS_KEY }));
    await sent(headers());
    keys.set('alice', [publicKeyOfPrivate(BOBS_KEY)]);
    clock.advance(4 * MINUTE);
    await sent(headers());
    expect(asked).toEqual(['alice']);
    clock.advance(MINUTE);
    await refused(headers());
    await sent(headers({ signingKey: BOBS_KEY }));
    expect(asked).toEqual(['alice', 'alice']);
  });

  it.each([
    [-300_000, true],
    [-301_000, false],
    [300_000, true],
    [301_000, false],
  ])('may have been signed %i ms from the server’s time: %s (X-11)', async (apartMs, isIn) => {
    const { clock, headers, sent, refused } = setUp();
    const signed = headers({ atMs: clock.now() + apartMs });
    if (isIn) expect(await sent(signed)).toBeDefined();
    else expect(await refused(signed)).toContain('timestamp');
  });

  it('is let in once, also with another signature that is made of its own', async () => {
    const { clock, headers, sent, refused } = setUp();
    const signed = headers({ atMs: clock.now() + 5 * MINUTE });
    await sent(signed);
    expect(await refused(signed)).toContain('before');
    const [head = 0, ...bytes] = signatureOf(signed['X-XPR-Signature'] as string) as Uint8Array;
    const s = BigInt(`0x${Buffer.from(bytes.slice(32)).toString('hex')}`);
    const twin = (secp256k1.Point.Fn.ORDER - s).toString(16).padStart(64, '0');
    const turned = [((head - 31) ^ 1) + 31, ...bytes.slice(0, 32), ...Buffer.from(twin, 'hex')];
    await refused({ ...signed, 'X-XPR-Signature': signatureText(Uint8Array.from(turned)) });
    // Nine minutes and 59 seconds later it is still within the window of its timestamp.
    clock.advance(10 * MINUTE - 1_000);
    expect(await refused(signed)).toContain('before');
    clock.advance(2_000);
    expect(await refused(signed)).toContain('timestamp');
  });

  it('differs from a like one by its nonce', async () => {
    const { headers, sent, refused } = setUp();
    await sent(headers({ nonce: 'one' }));
    await sent(headers({ nonce: 'two' }));
    await refused({ ...headers({ nonce: 'three' }), 'X-XPR-Nonce': 'four' });
    await refused(headers({ nonce: 'with space' }));
  });

  it('is for whom it says it is, where that is known or asked for', async () => {
    const here = 'https://agents.example';
    const { headers, sent, refused } = setUp({ audience: here });
    await sent(headers({ audience: here }));
    await sent(headers());
    expect(await refused(headers({ audience: 'https://other.example' }))).toContain('somebody else');
    const { ['X-XPR-Audience']: _, ...stripped } = headers({ audience: here, nonce: 'x' });
    await refused(stripped);
    const strict = setUp({ audience: here, requiresAudience: true });
    expect(await strict.refused(strict.headers())).toContain('whom it is for');
  });

  it('is refused when more came than can be remembered, until some are too old', async () => {
    const { clock, headers, sent } = setUp({ mostSeen: 2 });
    await sent(headers({ nonce: '1' }));
    await sent(headers({ nonce: '2' }));
    await expect(sent(headers({ nonce: '3' }))).rejects.toMatchObject({ code: 'RATE_LIMITED' });
    clock.advance(5 * MINUTE + 1_000);
    await sent(headers({ nonce: '4' }));
  });

  it.each<[string, object, string]>([
    ['an account', { 'X-XPR-Account': undefined }, 'X-XPR-Account'],
    ['a time', { 'X-XPR-Timestamp': undefined }, 'X-XPR-Timestamp'],
    ['a signature', { 'X-XPR-Signature': undefined }, 'X-XPR-Signature'],
    ['the name of an account', { 'X-XPR-Account': 'Alice!' }, 'account'],
    ['a whole time', { 'X-XPR-Timestamp': '1e9' }, 'timestamp'],
    ['a signature that is one', { 'X-XPR-Signature': 'SIG_K1_x' }, 'signature'],
  ])('needs %s', async (_, changes, named) => {
    const { headers, refused } = setUp();
    const changed = Object.entries({ ...headers(), ...changes }).filter(([, value]) => value !== undefined);
    expect(await refused(Object.fromEntries(changed) as Record<string, string>)).toContain(named);
  });

  it('is left to others when it has none of the headers; who cannot be asked is no fault of the caller', async () => {
    const { sent, headers } = setUp();
    expect(await sent({})).toBeUndefined();
    const clock = new FakeClock(1_704_067_200_000);
    const accounts = { activeKeys: () => Promise.reject(new Error('the chain is away')) };
    const auth = xprSignature({}, { clock, accounts });
    const failed = await rejection(auth.authenticate(edgeRequest(headers(), BODY)));
    expect(failed.message).toBe('the chain is away');
  });

  it.each<[XprSignatureOptions, string]>([
    [{ requiresAudience: true }, 'xprSignature.audience'],
    [{ windowMs: 0 }, 'xprSignature.windowMs'],
    [{ mostSeen: 0.5 }, 'xprSignature.mostSeen'],
  ])('is not checked with %j', (options, field) => {
    const deps = { clock: new FakeClock(), accounts: { activeKeys: async () => [] } };
    expect(() => xprSignature(options, deps)).toThrow(field);
  });
});
