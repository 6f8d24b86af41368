import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { exportJWK, generateKeyPair, type JWTPayload, SignJWT, UnsecuredJWT } from 'jose';
import { beforeAll, describe, expect, it } from 'vitest';
import { type BearerJwtOptions, bearerJwt } from '../../../../gateway/admit/bearer-jwt.ts';
import { edgeRequest } from '../../../fixtures/edge-request.ts';
import { FakeClock } from '../../../fixtures/fake-clock.ts';
import { rejection } from '../../../fixtures/until.ts';

const ISSUER = 'https://issuer.example';
const AUDIENCE = 'orrery';
const SECRET = new Uint8Array(32).fill(7);
const clock = new FakeClock();
const nowS = (): number => Math.floor(clock.now() / 1_000);
const claims = (changes: object = {}): JWTPayload => ({
  iss: ISSUER,
  aud: AUDIENCE,
  sub: 'alice',
  exp: nowS() + 60,
  tenant: 'acme',
  roles: ['reader', 'writer'],
  ...changes,
});

let ours: Awaited<ReturnType<typeof generateKeyPair>>;
let theirs: typeof ours;
let options: BearerJwtOptions;
beforeAll(async () => {
  ours = await generateKeyPair('ES256');
  theirs = await generateKeyPair('ES256');
  const key = await exportJWK(ours.publicKey);
  options = { issuer: ISSUER, audience: AUDIENCE, jwks: { keys: [{ ...key, alg: 'ES256', kid: 'one' }] } };
});

const signed = (payload: JWTPayload, key: CryptoKey | Uint8Array = ours.privateKey, alg = 'ES256') =>
  new SignJWT(payload).setProtectedHeader({ alg, kid: 'one' }).sign(key);
const bearer = (token: string) => edgeRequest({ authorization: `Bearer ${token}` });
const by = async (payload: JWTPayload, changes: Partial<BearerJwtOptions> = {}) =>
  bearerJwt({ ...options, ...changes }, { clock }).authenticate(bearer(await signed(payload)));

describe('A bearer token that is a JWT', () => {
  it('says who it is, with tenant and roles from the token alone', async () => {
    expect(await by(claims())).toEqual({
      id: `jwt:${ISSUER}#alice`,
      kind: 'user',
      tenant: 'acme',
      roles: ['reader', 'writer'],
      tier: 3,
      trust: { score: 1, source: ISSUER },
      expiresAtMs: (nowS() + 60) * 1_000,
    });
    const named = { tenantClaim: 'org', rolesClaim: 'scope', kind: 'service', trust: 0.5, tier: 1 } as const;
    expect(await by(claims({ org: 'other', scope: 'a  b', tenant: undefined }), named)).toMatchObject({
      kind: 'service',
      tenant: 'other',
      roles: ['a', 'b'],
      tier: 1,
      trust: { score: 0.5, source: ISSUER },
    });
    expect(await by(claims({ tenant: undefined, roles: undefined }))).toMatchObject({ roles: [] });
  });

  it.each<[string, Record<string, unknown>]>([
    ['expired', { exp: 1 }],
    ['of another issuer', { iss: 'https://other.example' }],
    ['for somebody else', { aud: 'another' }],
    ['not valid yet', { nbf: 2 ** 40 }],
    ['without a subject', { sub: undefined }],
    ['without an expiry', { exp: undefined }],
    ['with a tenant that is no text', { tenant: 5 }],
    ['with roles that are none', { roles: { admin: true } }],
  ])('is refused when it is %s', async (_, changes) => {
    expect((await rejection(by(claims(changes)))).code).toBe('UNAUTHENTICATED');
  });

  it('is refused with another key, without a signature, and where a public key is taken for a secret', async () => {
    const auth = bearerJwt(options, { clock });
    const forged = [
      await signed(claims(), theirs.privateKey),
      new UnsecuredJWT(claims()).encode(),
      await signed(claims(), SECRET, 'HS256'),
      `${(await signed(claims())).slice(0, -4)}AAAA`,
      'a.b.c',
    ];
    for (const token of forged)
      expect((await rejection(auth.authenticate(bearer(token)))).code, token).toBe('UNAUTHENTICATED');
  });

  it('may be signed with a secret that both have, and with nothing else then', async () => {
    const auth = bearerJwt({ issuer: ISSUER, audience: AUDIENCE, secret: SECRET }, { clock });
    const token = await signed(claims(), SECRET, 'HS256');
    expect(await auth.authenticate(bearer(token))).toMatchObject({ id: `jwt:${ISSUER}#alice` });
    expect((await rejection(auth.authenticate(bearer(await signed(claims()))))).code).toBe('UNAUTHENTICATED');
  });

  it('is checked against keys that are fetched; who cannot be reached is no fault of the caller', async () => {
    const { keys } = options.jwks as { keys: object[] };
    let isUp = true;
    const server = createServer((_, response) =>
      response.writeHead(isUp ? 200 : 500).end(JSON.stringify({ keys })),
    );
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const jwks = new URL(`http://127.0.0.1:${(server.address() as AddressInfo).port}/keys`);
    expect(await by(claims(), { jwks })).toMatchObject({ tenant: 'acme' });
    isUp = false;
    expect((await rejection(by(claims(), { jwks }))).code).not.toBe('UNAUTHENTICATED');
    await new Promise((resolve) => server.close(resolve));
  });

  it('is left to others when it is no JWT, or there is none', async () => {
    const auth = bearerJwt(options, { clock });
    for (const headers of [{}, { authorization: 'Basic YTpi' }, { authorization: 'Bearer opaque' }])
      expect(await auth.authenticate(edgeRequest(headers as Record<string, string>))).toBeUndefined();
  });

  it.each<[object, string]>([
    [{ jwks: undefined }, 'bearerJwt.jwks'],
    [{ secret: SECRET }, 'bearerJwt.jwks'],
    [{ jwks: undefined, secret: new Uint8Array(31) }, 'bearerJwt.secret'],
    [{ audience: '' }, 'bearerJwt.audience'],
    [{ trust: 2 }, 'bearerJwt.trust'],
    [{ unknown: 1 }, 'bearerJwt.unknown'],
  ])('is not set up with %j', (changes, field) => {
    expect(() => bearerJwt({ ...options, ...changes }, { clock })).toThrow(field);
  });
});
