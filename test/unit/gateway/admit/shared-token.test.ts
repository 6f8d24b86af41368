import { describe, expect, it } from 'vitest';
import { sharedToken } from '../../../../gateway/admit/shared-token.ts';
import type { Principal } from '../../../../runtime/protocol/principal.ts';
import { edgeRequest } from '../../../fixtures/edge-request.ts';

const hook: Principal = {
  id: 'hook:openclaw',
  kind: 'service',
  roles: [],
  tier: 3,
  trust: { score: 1, source: 'token' },
};
const TOKEN = '0123456789abcdef';

describe('Who has the one token', () => {
  const { authenticate } = sharedToken(TOKEN, hook);

  it('is the principal that it is of', async () => {
    expect(await authenticate(edgeRequest({ authorization: `Bearer ${TOKEN}` }))).toBe(hook);
  });

  it.each([undefined, `Bearer ${TOKEN}0`, `Basic ${TOKEN}`, 'Bearer'])(
    'is left to others with %s',
    async (said) => {
      const headers: Record<string, string> = said === undefined ? {} : { authorization: said };
      expect(await authenticate(edgeRequest(headers))).toBeUndefined();
    },
  );

  it('needs one that cannot be guessed, which no error shows', () => {
    expect(() => sharedToken('guessable', hook)).toThrow('token');
    expect(() => sharedToken('guessable', hook)).not.toThrow('guessable');
    expect(() => sharedToken({ token: TOKEN } as never, hook)).toThrow('token is "no text", expected a text');
  });
});
