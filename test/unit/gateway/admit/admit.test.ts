import { describe, expect, it } from 'vitest';
import { admit } from '../../../../gateway/admit/admit.ts';
import { type ApiKeyRecord, apiKeys, newApiKey } from '../../../../gateway/admit/api-keys.ts';
import { slidingWindow } from '../../../../gateway/admit/sliding-window.ts';
import type { AdmissionRule, Authenticator } from '../../../../runtime/protocol/admission.ts';
import { ANONYMOUS } from '../../../../runtime/protocol/principal.ts';
import { edgeRequest } from '../../../fixtures/edge-request.ts';
import { FakeClock } from '../../../fixtures/fake-clock.ts';
import { rejection } from '../../../fixtures/until.ts';

const clock = new FakeClock();
const { key, record } = newApiKey({ kind: 'agent', tenant: 'acme' });
const keys = (records: readonly ApiKeyRecord[]) => apiKeys(records, { clock });
const withKey = edgeRequest({ 'x-api-key': key, 'x-tenant': 'other' });
const never: AdmissionRule = {
  name: 'never',
  admit: () => ({ code: 'NOT_PERMITTED', reason: 'it is closed' }),
};
const broken: Authenticator = {
  scheme: 'Broken',
  authenticate: () => Promise.reject(new Error('the keys are gone')),
};

describe('Admission', () => {
  it('lets in whoever proves who they are, with the tenant of the proof', async () => {
    expect(await admit(withKey, { authenticators: [keys([record])] })).toMatchObject({
      id: `key:${record.id}`,
      tenant: 'acme',
    });
  });

  it('lets nobody in without a proof, unless that is wanted; bad credentials are never none (X-17)', async () => {
    const authenticators = [keys([record])];
    const none = await rejection(admit(edgeRequest(), { authenticators }));
    expect(none).toEqual({
      code: 'UNAUTHENTICATED',
      message: 'The request is not authenticated: it has no credentials, expected ApiKey',
    });
    expect(await admit(edgeRequest(), { authenticators, anonymous: true })).toBe(ANONYMOUS);
    const bad = edgeRequest({ 'x-api-key': `${key.slice(0, -1)}!` });
    expect((await rejection(admit(bad, { authenticators, anonymous: true }))).code).toBe('UNAUTHENTICATED');
    expect((await rejection(admit(edgeRequest(), { authenticators: [] }))).message).toContain(
      'nobody is let in',
    );
  });

  it('lets nobody in when it cannot find out, nor past a rule that says no', async () => {
    const authenticators = [keys([record])];
    expect((await rejection(admit(withKey, { authenticators: [broken, ...authenticators] }))).message).toBe(
      'the keys are gone',
    );
    expect(await rejection(admit(withKey, { authenticators, rules: [never] }))).toEqual({
      code: 'NOT_PERMITTED',
      message: 'it is closed',
    });
  });

  it('says when to come again', async () => {
    const rules = [slidingWindow({ requests: 1, windowMs: 1_000 }, { clock })];
    const authenticators = [keys([record])];
    await admit(withKey, { authenticators, rules });
    clock.advance(400);
    await expect(admit(withKey, { authenticators, rules })).rejects.toMatchObject({
      code: 'RATE_LIMITED',
      details: { retryAfterMs: 600, rule: 'rate-limit' },
    });
  });

  it('takes no rules for some that are misspelt', async () => {
    for (const [options, message] of [
      [
        { authenticators: [], anonymous: true, rulse: [] },
        'admit.rulse is [], expected no option of this name',
      ],
      [{ anonymous: true }, 'admit.authenticators is undefined, expected a list of authenticators'],
    ] as const)
      await expect(admit(edgeRequest(), options as never)).rejects.toMatchObject({
        code: 'INVALID_OPTIONS',
        message,
      });
  });
});
