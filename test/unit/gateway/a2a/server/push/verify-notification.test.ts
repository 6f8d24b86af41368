import { exportJWK, generateKeyPair, SignJWT } from 'jose';
import { describe, expect, it } from 'vitest';
import { sha256 } from '../../../../../../gateway/a2a/server/push/push-claims.ts';
import { PushSigner, type SignedFacts } from '../../../../../../gateway/a2a/server/push/push-signer.ts';
import {
  SeenNotifications,
  verifyNotification,
} from '../../../../../../gateway/a2a/server/push/verify-notification.ts';
import { FakeClock } from '../../../../../fixtures/fake-clock.ts';
import { rejection } from '../../../../../fixtures/until.ts';

const ISSUER = 'https://gateway.example';
const AUDIENCE = 'https://receiver.example';
const body = new TextEncoder().encode('{"statusUpdate":{"taskId":"t1"}}');

async function rig() {
  const clock = new FakeClock();
  const signer = await PushSigner.create({ issuer: ISSUER });
  const facts: SignedFacts = {
    origin: AUDIENCE,
    taskId: 't1',
    id: 't1/c1/7',
    attemptId: 'a1',
    nowMs: clock.now(),
  };
  const signature = await signer.sign(body, facts);
  const headers = new Headers({
    'X-A2A-Notification-Signature': signature,
    'X-A2A-Notification-Token': 't0k',
  });
  const options = { jwks: signer.jwks, audience: AUDIENCE, clock };
  return { clock, signer, facts, headers, options, signature };
}

const said = async (work: Promise<unknown>): Promise<string> => {
  const { code, message } = await rejection(work);
  expect(code).toBe('UNAUTHENTICATED');
  return message;
};

describe('verifyNotification', () => {
  it('leaves no check out for an option that is misspelt or of another type', async () => {
    const { headers, options } = await rig();
    const { audience: _, ...without } = options;
    for (const [given, field] of [
      [without, 'verifyNotification.audience is undefined'],
      [{ ...options, audience: '' }, 'verifyNotification.audience is ""'],
      [{ ...options, tokn: 1 }, 'verifyNotification.tokn is 1, expected no option of this name'],
      [{ ...options, seen: {} }, 'verifyNotification.seen is {}, expected a SeenNotifications'],
      [{ ...options, jwks: 'x' }, 'verifyNotification.jwks is "x", expected a key set, or the URL of one'],
      [{ ...options, maxAgeMs: 0 }, 'verifyNotification.maxAgeMs is 0'],
    ] as const)
      expect(await rejection(verifyNotification({ headers, body }, given as never))).toMatchObject({
        code: 'INVALID_OPTIONS',
        message: expect.stringContaining(field),
      });
    for (const received of [undefined, {}, { headers: {}, body }, { headers, body: 'text' }])
      expect(await rejection(verifyNotification(received as never, options))).toMatchObject({
        code: 'INVALID_OPTIONS',
        message: expect.stringMatching(/^notification/),
      });
  });

  it('says what a notification is that its sender has signed, with either key', async () => {
    for (const algorithm of ['ES256', 'EdDSA']) {
      const { privateKey } = await generateKeyPair(algorithm, { extractable: true });
      const signer = await PushSigner.create({ issuer: ISSUER, key: await exportJWK(privateKey) });
      const { clock, facts } = await rig();
      const headers = new Headers({ Authorization: `Bearer ${await signer.sign(body, facts)}` });
      const verified = await verifyNotification(
        { headers, body },
        { jwks: signer.jwks, audience: AUDIENCE, clock, issuer: ISSUER },
      );
      expect(verified).toEqual({
        taskId: 't1',
        notificationId: 't1/c1/7',
        issuer: ISSUER,
        news: { statusUpdate: { taskId: 't1' } },
      });
      expect(JSON.stringify(signer.jwks)).not.toContain('"d"');
    }
  });

  it('refuses another body, by a single byte', async () => {
    const { headers, options } = await rig();
    const other = body.slice();
    other[3] = (other[3] ?? 0) ^ 1;
    expect(await said(verifyNotification({ headers, body: other }, options))).toContain('another body');
  });

  it('refuses what is for another receiver', async () => {
    const { headers, options } = await rig();
    await said(verifyNotification({ headers, body }, { ...options, audience: 'https://other.example' }));
  });

  it('refuses what another one has signed, and what another issuer has', async () => {
    const { headers, options, clock, facts } = await rig();
    const stranger = await PushSigner.create({ issuer: ISSUER });
    await said(verifyNotification({ headers, body }, { ...options, jwks: stranger.jwks }));
    const foreign = new Headers({ 'X-A2A-Notification-Signature': await stranger.sign(body, facts) });
    await said(verifyNotification({ headers: foreign, body }, options));
    await said(verifyNotification({ headers, body }, { ...options, issuer: 'https://else.example', clock }));
  });

  it('refuses what is too old, and what is from the future', async () => {
    const { headers, options, clock } = await rig();
    clock.advance(299_000);
    await verifyNotification({ headers, body }, options);
    await said(verifyNotification({ headers, body }, { ...options, maxAgeMs: 60_000 }));
    clock.advance(60_000);
    await said(verifyNotification({ headers, body }, options));
    await said(
      verifyNotification({ headers, body }, { ...options, clock: new FakeClock(clock.now() - 1_000_000) }),
    );
  });

  it('refuses a replay, and takes another attempt', async () => {
    const { headers, options, signer, facts, clock } = await rig();
    const seen = new SeenNotifications();
    await verifyNotification({ headers, body }, { ...options, seen });
    clock.advance(200_000);
    expect(await said(verifyNotification({ headers, body }, { ...options, seen }))).toContain('come before');
    const again = await signer.sign(body, { ...facts, attemptId: 'a2', nowMs: clock.now() });
    const second = { headers: new Headers({ 'X-A2A-Notification-Signature': again }), body };
    const { notificationId } = await verifyNotification(second, { ...options, seen });
    expect(notificationId).toBe(facts.id);
  });

  it('is told of a wrong bound of what has come, by name', () => {
    expect(() => new SeenNotifications({ mst: 1 } as never)).toThrow('SeenNotifications.mst is 1');
    expect(() => new SeenNotifications({ most: 0 })).toThrow('SeenNotifications.most is 0');
  });

  it('notes nothing of what it refuses: a forgery uses no attempt up', async () => {
    const { headers, options } = await rig();
    const seen = new SeenNotifications();
    await said(verifyNotification({ headers, body: new Uint8Array(3) }, { ...options, seen }));
    await verifyNotification({ headers, body }, { ...options, seen });
  });

  it('refuses what shows another token than the receiver gave, or none', async () => {
    const { headers, options } = await rig();
    await verifyNotification({ headers, body }, { ...options, token: 't0k' });
    await said(verifyNotification({ headers, body }, { ...options, token: 'other' }));
    headers.delete('X-A2A-Notification-Token');
    await said(verifyNotification({ headers, body }, { ...options, token: 't0k' }));
  });

  it.each([
    ['nothing', ''],
    ['no token', 'nonsense'],
    ['a token that nobody signed', `${btoa('{"alg":"none"}')}.${btoa('{}')}.`],
  ])('refuses %s for a signature', async (_what, signature) => {
    const { options } = await rig();
    const headers = new Headers(signature === '' ? {} : { 'X-A2A-Notification-Signature': signature });
    await said(verifyNotification({ headers, body }, options));
  });

  it('refuses tokens that its keys have signed for something else', async () => {
    const { privateKey, publicKey } = await generateKeyPair('ES256', { extractable: true });
    const jwks = { keys: [{ ...(await exportJWK(publicKey)), alg: 'ES256' }] };
    const { clock } = await rig();
    const nowS = Math.floor(clock.now() / 1_000);
    const claims = { request_body_sha256: sha256(body), task_id: 't1', notification_id: 'n1' };
    const token = await new SignJWT({ sub: 'alice', ...claims })
      .setProtectedHeader({ alg: 'ES256', typ: 'JWT' })
      .setIssuer(ISSUER)
      .setAudience(AUDIENCE)
      .setIssuedAt(nowS)
      .setExpirationTime(nowS + 60)
      .setJti('j')
      .sign(privateKey);
    const headers = new Headers({ 'X-A2A-Notification-Signature': token });
    await said(verifyNotification({ headers, body }, { jwks, audience: AUDIENCE, clock }));
  });

  it('refuses new ones while there is no room to note them, until old ones are forgotten', () => {
    const seen = new SeenNotifications({ most: 2 });
    const at = (nowMs: number) => ({ goneAtMs: nowMs + 10, nowMs });
    expect([seen.isNew('a', at(0)), seen.isNew('b', at(1)), seen.isNew('c', at(2))]).toEqual([
      true,
      true,
      false,
    ]);
    expect([seen.isNew('c', at(11)), seen.isNew('b', at(11))]).toEqual([true, false]);
  });
});

describe('PushSigner', () => {
  it.each([
    [{ kty: 'oct', k: 'c2VjcmV0' }],
    [{ kty: 'RSA', n: 'AQAB', e: 'AQAB', d: 'AQAB' }],
    [{ kty: 'EC', crv: 'P-256', x: 'AA', y: 'AA' }],
  ])('refuses a key that is no private one of P-256 or Ed25519: %j', async (key) => {
    const { code, message } = await rejection(PushSigner.create({ issuer: ISSUER, key }));
    expect({ code, message }).toEqual({
      code: 'INVALID_OPTIONS',
      message: expect.stringContaining('push.key'),
    });
    expect(message).not.toContain('c2VjcmV0');
  });

  it('has the same name for the same key', async () => {
    const { privateKey } = await generateKeyPair('ES256', { extractable: true });
    const key = await exportJWK(privateKey);
    const [one, other] = await Promise.all([1, 2].map(() => PushSigner.create({ issuer: ISSUER, key })));
    expect(one?.jwks.keys[0]?.kid).toBe(other?.jwks.keys[0]?.kid);
    expect(one?.jwks.keys[0]).toMatchObject({ alg: 'ES256', use: 'sig' });
  });
});
