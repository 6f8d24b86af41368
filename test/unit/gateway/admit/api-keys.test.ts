import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { apiKeys, newApiKey } from '../../../../gateway/admit/api-keys.ts';
import { edgeRequest } from '../../../fixtures/edge-request.ts';
import { FakeClock } from '../../../fixtures/fake-clock.ts';
import { rejection } from '../../../fixtures/until.ts';

const clock = new FakeClock();
const owner = { kind: 'service', tenant: 'acme', roles: ['reader'] } as const;

describe('An API key', () => {
  it('says whose it is, in either header', async () => {
    const { key, record } = newApiKey(owner);
    const auth = apiKeys([record, newApiKey(owner).record], { clock });
    const expected = { ...owner, id: `key:${record.id}`, tier: 3, trust: { score: 1, source: 'api-key' } };
    expect(await auth.authenticate(edgeRequest({ 'x-api-key': key }))).toEqual(expected);
    expect(await auth.authenticate(edgeRequest({ authorization: `Bearer ${key}` }))).toEqual(expected);
  });

  it('cannot be made of what is kept of it', () => {
    const { key, record } = newApiKey(owner);
    const kept = JSON.stringify(record);
    expect(kept).not.toContain(key.slice(-43));
    expect(key).toContain(record.id);
  });

  it('is refused with any character changed, withdrawn or expired', async () => {
    const { key, record } = newApiKey({ ...owner, expiresAtMs: clock.now() + 1_000 });
    const auth = apiKeys([record], { clock });
    const refused = (text: string) => rejection(auth.authenticate(edgeRequest({ 'x-api-key': text })));
    await fc.assert(
      fc.asyncProperty(fc.nat(key.length - 1), fc.constantFrom('a', '0', '_', 'Z'), async (at, other) => {
        fc.pre(key[at] !== other);
        expect((await refused(key.slice(0, at) + other + key.slice(at + 1))).code).toBe('UNAUTHENTICATED');
      }),
      { numRuns: 200 },
    );
    const withdrawn = apiKeys(async () => undefined, { clock });
    expect((await rejection(withdrawn.authenticate(edgeRequest({ 'x-api-key': key })))).message).toContain(
      'not known',
    );
    expect(await auth.authenticate(edgeRequest({ 'x-api-key': key }))).toBeDefined();
    clock.advance(1_000);
    expect((await refused(key)).message).toContain('expired');
  });

  it('is left to others when a bearer token is something else', async () => {
    const auth = apiKeys([], { clock });
    expect(await auth.authenticate(edgeRequest({ authorization: 'Bearer a.b.c' }))).toBeUndefined();
    expect(await auth.authenticate(edgeRequest())).toBeUndefined();
    expect((await rejection(auth.authenticate(edgeRequest({ 'x-api-key': 'x' })))).code).toBe(
      'UNAUTHENTICATED',
    );
  });

  it('is kept as a record that fits, and once', () => {
    const { record } = newApiKey(owner);
    expect(() => apiKeys([record, record], { clock })).toThrow('keys[1].id');
    expect(() => apiKeys([{ ...record, sha256: 'x' }], { clock })).toThrow('keys[0].sha256');
    expect(() => newApiKey({ ...owner, trust: { score: 2, source: 'x' } })).toThrow('owner.trust.score');
  });

  it('needs a clock, and a list or a function', () => {
    expect(() => apiKeys([], undefined as never)).toThrow('apiKeys.clock is undefined, expected a clock');
    expect(() => apiKeys([], { clock: {} as never })).toThrow('apiKeys.clock is {}');
    expect(() => apiKeys('x' as never, { clock })).toThrow('keys is "x", expected a list');
  });
});
