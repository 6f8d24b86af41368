import { describe, expect, it } from 'vitest';
import { xprOptionsFromEnv } from '../../../../../gateway/xpr/admit/xpr-env.ts';
import { ALICES_KEY } from '../../../../fixtures/k1-keys.ts';

describe('The variables of XPR’s deployments (X-19, X-20, X-22, X-24)', () => {
  it('have the seed’s defaults, also when they are set to nothing', () => {
    const defaults = {
      authRequired: true,
      minTrustScore: 0,
      minKycLevel: 0,
      requestsPerMinute: 20,
      toolMode: 'full',
      maxTurns: 20,
      maxConcurrentRuns: 5,
    };
    expect(xprOptionsFromEnv({})).toEqual(defaults);
    expect(xprOptionsFromEnv({ A2A_RATE_LIMIT: '', XPR_ACCOUNT: '', HOME: '/' })).toEqual(defaults);
  });

  it('say what is asked for', () => {
    const env = {
      A2A_AUTH_REQUIRED: 'false',
      A2A_MIN_TRUST_SCORE: '40',
      A2A_MIN_KYC_LEVEL: '2',
      A2A_RATE_LIMIT: '100',
      A2A_TOOL_MODE: 'readonly',
      AGENT_MAX_TURNS: '7',
      MAX_CONCURRENT_RUNS: '3',
      XPR_RPC_ENDPOINT: 'https://node.example',
      XPR_ACCOUNT: 'myagent',
      XPR_PRIVATE_KEY: ALICES_KEY,
      OPENCLAW_HOOK_TOKEN: 'a token that is long',
    };
    expect(xprOptionsFromEnv(env)).toEqual({
      authRequired: false,
      minTrustScore: 40,
      minKycLevel: 2,
      requestsPerMinute: 100,
      toolMode: 'readonly',
      maxTurns: 7,
      maxConcurrentRuns: 3,
      rpcEndpoint: 'https://node.example',
      account: 'myagent',
      signingKey: ALICES_KEY,
      hookToken: 'a token that is long',
    });
  });

  it.each([
    ['A2A_AUTH_REQUIRED', 'yes'],
    ['A2A_MIN_TRUST_SCORE', '101'],
    ['A2A_MIN_TRUST_SCORE', '-1'],
    ['A2A_MIN_KYC_LEVEL', '4'],
    ['A2A_MIN_KYC_LEVEL', '1.5'],
    ['A2A_RATE_LIMIT', '0'],
    ['A2A_RATE_LIMIT', '0x10'],
    ['A2A_TOOL_MODE', 'readOnly'],
    ['AGENT_MAX_TURNS', 'many'],
    ['MAX_CONCURRENT_RUNS', '0'],
    ['XPR_RPC_ENDPOINT', 'ftp://node.example'],
    ['XPR_ACCOUNT', 'My Agent'],
  ])('are refused by name and value: %s=%s', (name, value) => {
    expect(() => xprOptionsFromEnv({ [name]: value })).toThrow(`${name} is "${value}", expected`);
  });

  it.each([
    ['XPR_PRIVATE_KEY', 'a key that is none at all'],
    ['OPENCLAW_HOOK_TOKEN', 'guessable'],
  ])('are refused by name alone where they are secret: %s', (name, value) => {
    expect(() => xprOptionsFromEnv({ [name]: value })).toThrow(name);
    expect(() => xprOptionsFromEnv({ [name]: value })).not.toThrow(value);
  });
});
