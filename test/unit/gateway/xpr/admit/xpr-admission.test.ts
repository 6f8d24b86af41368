import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { chainRpc } from '../../../../../gateway/xpr/chain/chain-rpc.ts';
import { publicKeyOfPrivate } from '../../../../../gateway/xpr/chain/k1-signature.ts';
import { signRequest } from '../../../../../gateway/xpr/chain/sign-request.ts';
import { sharedToken } from '../../../../../gateway/admit/shared-token.ts';
import { xprAdmission, type XprAdmissionOptions } from '../../../../../gateway/xpr/admit/xpr-admission.ts';
import { isOrreryError } from '../../../../../runtime/protocol/errors.ts';
import { ANONYMOUS } from '../../../../../runtime/protocol/principal.ts';
import { systemSeams } from '../../../../../runtime/protocol/system-seams.ts';
import { ChainNode } from '../../../../fixtures/chain-node.ts';
import { edgeRequest } from '../../../../fixtures/edge-request.ts';
import { FakeClock } from '../../../../fixtures/fake-clock.ts';
import { ALICES_KEY, BOBS_KEY } from '../../../../fixtures/k1-keys.ts';
import { until } from '../../../../fixtures/until.ts';

let node: ChainNode;
let clock: FakeClock;
beforeEach(async () => {
  node = await ChainNode.start();
  clock = new FakeClock(1_704_067_200_000);
  for (const [account, key] of [
    ['alice', ALICES_KEY],
    ['bob', BOBS_KEY],
  ] as const) {
    node.keys.set(account, [publicKeyOfPrivate(key)]);
    node.agents.set(account, { account, owner: account });
  }
});
afterEach(() => node.stop());

const BODY = '{"jsonrpc":"2.0"}';
const TIMEOUT_MS = 200;
let serial = 0;

function admission(options: XprAdmissionOptions = {}) {
  // How long the chain may take is measured by the same clock: a busy machine is no silent chain.
  const accounts = chainRpc({ endpoint: node.endpoint, timeoutMs: TIMEOUT_MS }, { clock });
  const admit = xprAdmission(options, { clock, accounts });
  return async (
    account: string | undefined,
    signingKey = ALICES_KEY,
    headers: Record<string, string> = {},
  ) => {
    const body = new TextEncoder().encode(BODY);
    const signed =
      account === undefined
        ? {}
        : signRequest({ account, signingKey, body, atMs: clock.now(), nonce: `n${serial++}` });
    try {
      return (await admit(edgeRequest({ ...signed, ...headers }, BODY))).id;
    } catch (error) {
      if (!isOrreryError(error)) throw error;
      return { code: error.code, rule: error.details['rule'], retryAfterMs: error.details['retryAfterMs'] };
    }
  };
}

describe('Who may come in by the XPR binding', () => {
  it('is who has signed, at their rate, registered and trusted: in this order', async () => {
    const come = admission({ requestsPerMinute: 2, trust: { minKycLevel: 1 } });
    node.kycLevels.set('alice', 1);
    expect(await come('alice')).toBe('xpr:alice');
    expect(await come('bob', BOBS_KEY)).toMatchObject({ code: 'NOT_PERMITTED', rule: 'trust-gate' });
    // A forged request neither counts for the account nor is it told what the account may do.
    expect(await come('bob', ALICES_KEY)).toMatchObject({ code: 'UNAUTHENTICATED' });
    expect(await come('bob', BOBS_KEY)).toMatchObject({ code: 'NOT_PERMITTED' });
    const third = await come('bob', BOBS_KEY);
    expect(third).toMatchObject({ code: 'RATE_LIMITED', retryAfterMs: 60_000 });
    expect(await come('alice')).toBe('xpr:alice');
  });

  it('is a registered, active agent, whatever else is asked for (X-18, C-08)', async () => {
    const come = admission({ authRequired: false });
    node.agents.delete('alice');
    expect(await come('alice')).toMatchObject({ code: 'NOT_PERMITTED' });
    node.agents.set('bob', { account: 'bob', active: false });
    expect(await come('bob', BOBS_KEY)).toMatchObject({ code: 'NOT_PERMITTED' });
  });

  it('is nobody without a signature where one is required, which is the default (X-17)', async () => {
    expect(await admission()(undefined)).toMatchObject({ code: 'UNAUTHENTICATED' });
    expect(await admission({ authRequired: false })(undefined)).toBe(ANONYMOUS.id);
    expect(node.asked).toEqual([]);
  });

  it('is 20 times a minute by default, and again when the window has moved on (X-22)', async () => {
    const come = admission();
    for (let request = 0; request < 20; request++) expect(await come('alice')).toBe('xpr:alice');
    expect(await come('alice')).toMatchObject({ code: 'RATE_LIMITED' });
    expect(await come('bob', BOBS_KEY)).toBe('xpr:bob');
    clock.advance(60_000);
    expect(await come('alice')).toBe('xpr:alice');
  });

  it('is, of all who are anonymous, as many as of one account (X-23)', async () => {
    const come = admission({ authRequired: false, requestsPerMinute: 3 });
    for (let request = 0; request < 3; request++) expect(await come(undefined)).toBe('anonymous');
    expect(await come(undefined)).toMatchObject({ code: 'RATE_LIMITED', rule: 'rate-limit' });
    expect(await come('alice')).toBe('xpr:alice');
  });

  it.each([[{ minKycLevel: 1 }], [{ minTrustScore: 1 }]])(
    'is nobody anonymous where %j is asked for (C-08)',
    async (trust) => {
      expect(await admission({ authRequired: false, trust })(undefined)).toMatchObject({
        code: 'NOT_PERMITTED',
        rule: 'trust-gate',
      });
    },
  );

  it('is who can prove it otherwise, where that is allowed', async () => {
    const hook = { ...ANONYMOUS, id: 'hook:x', kind: 'service' as const };
    const come = admission({
      authenticators: [sharedToken('a token that is long'.replaceAll(' ', '-'), hook)],
    });
    expect(await come(undefined, '', { authorization: 'Bearer a-token-that-is-long' })).toBe('hook:x');
    expect(await come(undefined, '', { authorization: 'Bearer another' })).toMatchObject({
      code: 'UNAUTHENTICATED',
    });
  });

  it.each([
    ['does not answer', 'silent'],
    ['fails', { status: 500 }],
    ['answers nonsense', { text: '<html>' }],
    ['answers something else', { text: '{"permissions":7}' }],
  ] as const)('is nobody who signs while the chain %s, and everybody again when it does', async (_, mood) => {
    const come = admission();
    node.mood = mood;
    const coming = come('alice');
    if (mood === 'silent') {
      await until('the chain is asked', async () => node.asked.length > 0);
      clock.advance(TIMEOUT_MS);
    }
    expect(await coming).toEqual({ code: 'NOT_PERMITTED', rule: 'chain', retryAfterMs: 5_000 });
    node.mood = 'well';
    expect(await come('alice')).toBe('xpr:alice');
  });

  it.each<[XprAdmissionOptions, string]>([
    [{ trust: { ttlMs: 0 } }, 'trust.ttlMs'],
    [{ trust: { minKycLevel: 4 } }, 'minKycLevel'],
    [{ requestsPerMinute: 0.5 }, 'requests'],
    [{ signature: { windowMs: -1 } }, 'windowMs'],
  ])('is not decided with %j', (options, field) => {
    const accounts = chainRpc({ endpoint: node.endpoint }, systemSeams());
    expect(() => xprAdmission(options, { clock, accounts })).toThrow(field);
  });

  it('has the trust that the chain has in it, from 0 to 1 (X-49, C-23)', async () => {
    node.kycLevels.set('alice', 3);
    node.ratings.set('alice', 10_000);
    node.agents.set('alice', { account: 'alice', owner: 'alice', registered_at: clock.now() / 1_000 });
    const accounts = chainRpc({ endpoint: node.endpoint }, systemSeams());
    const admit = xprAdmission({}, { clock, accounts });
    const body = new TextEncoder().encode(BODY);
    const signed = signRequest({ account: 'alice', signingKey: ALICES_KEY, body, atMs: clock.now() });
    const { trust } = await admit(edgeRequest(signed, BODY));
    expect(trust).toEqual({ score: 0.7, source: 'xpr' });
  });

  it('is known for five minutes without asking the chain again (X-13, X-21)', async () => {
    const come = admission();
    await come('alice');
    const asked = node.asked.length;
    clock.advance(299_000);
    await come('alice');
    expect(node.asked).toHaveLength(asked);
    clock.advance(1_000);
    await come('alice');
    expect(node.asked).toHaveLength(2 * asked);
  });
});

describe('A gate that is misspelt', () => {
  it('is refused, and stands not open', () => {
    const deps = { clock, accounts: chainRpc({ endpoint: node.endpoint }, systemSeams()) };
    expect(() => xprAdmission({ trst: { minKycLevel: 3 } } as never, deps)).toThrow(
      'admission.trst is {"minKycLevel":3}, expected no option of this name',
    );
    expect(() => xprAdmission({ authRequired: 'no' } as never, deps)).toThrow(
      'admission.authRequired is "no"',
    );
  });
});
