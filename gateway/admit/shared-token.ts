import { createHash, timingSafeEqual } from 'node:crypto';
import type { Authenticator } from '../../runtime/protocol/admission.ts';
import { invalidOptions } from '../../runtime/protocol/errors.ts';
import type { Principal } from '../../runtime/protocol/principal.ts';
import { bearerTokenOf } from './bearer.ts';

const FEWEST_CHARACTERS = 16;

/**
 * Whoever has this one secret, as a bearer token, is this principal. Other bearer tokens are left to other authenticators.
 *
 * Throws INVALID_OPTIONS for a token that can be guessed; the message does not show it.
 */
export function sharedToken(token: string, principal: Principal): Authenticator {
  if (typeof token !== 'string') throw invalidOptions('token', 'no text', 'a text');
  if (token.length < FEWEST_CHARACTERS)
    throw invalidOptions('token', 'a shorter text', `at least ${FEWEST_CHARACTERS} characters`);
  const expected = digestOf(token);
  return {
    scheme: 'Bearer',
    authenticate: async (request) => {
      const given = bearerTokenOf(request);
      return given !== undefined && timingSafeEqual(digestOf(given), expected) ? principal : undefined;
    },
  };
}

/** Of one length whatever the token's is, so that comparing tells nothing. */
const digestOf = (token: string): Buffer => createHash('sha256').update(token).digest();
