import { z } from 'zod';
import { remoteFailed, unauthenticated } from '../../../../runtime/protocol/edge-errors.ts';
import { parseShallowJson } from '../../../../runtime/protocol/json.ts';
import { PACKAGES_FOR, requirePackages } from '../../../../runtime/protocol/optional-packages.ts';
import type { Clock } from '../../../../runtime/protocol/seams.ts';
import type { JsonWebKeySet } from '../../wire/card-key.ts';
import type { ClientSettings } from '../client-options.ts';
import type { HttpCalls } from '../http-calls.ts';

/** Resolves to the part of a card that may be trusted. Rejects with UNAUTHENTICATED if nothing may. */
export type VerifyCard = (card: unknown, at: URL) => Promise<unknown>;

const KEYS_MAX_AGE_MS = 600_000;
const MAX_KEYS_BYTES = 1024 * 1024;

export interface VerifyDeps {
  readonly settings: ClientSettings;
  readonly calls: HttpCalls;
  readonly clock: Pick<Clock, 'now'>;
}

/**
 * Makes a verifier of signed cards (A2A 1.0, 8.4). Only the configured keys count; the `jku` in a card is ignored. Of a signed card
 * only the part that the signature covers is trusted.
 */
export function cardVerifier({ settings, calls, clock }: VerifyDeps): VerifyCard {
  const { trust, requireSignedCard = trust !== undefined } = settings;
  let fetched: { readonly keys: JsonWebKeySet; readonly untilMs: number } | undefined;
  const keysOf = async (): Promise<JsonWebKeySet> => {
    if (trust?.keys !== undefined) return { keys: trust.keys };
    if (fetched !== undefined && clock.now() < fetched.untilMs) return fetched.keys;
    const keys = await fetchKeys(trust?.jwks as URL, { calls, settings });
    fetched = { keys, untilMs: clock.now() + KEYS_MAX_AGE_MS };
    return keys;
  };
  return async (card, at) => {
    if (!isSigned(card)) {
      if (requireSignedCard) throw unauthenticated(`the card ${at.href} is not signed`);
      return card;
    }
    if (trust === undefined) {
      if (requireSignedCard) throw unauthenticated(`there is no key to verify the card ${at.href} with`);
      return card;
    }
    requirePackages('Verifying signed cards (trust)', PACKAGES_FOR.signedCards);
    const keys = await keysOf();
    const { verifyCard } = await import('../../wire/card-signature.ts');
    const { signedPartOf } = await import('../../wire/card-shape.ts');
    await verifyCard(card, keys).catch((): never => {
      throw unauthenticated(`no signature of the card ${at.href} is by a key that is trusted`);
    });
    return signedPartOf(card);
  };
}

function isSigned(card: unknown): boolean {
  const { signatures } = (card ?? {}) as { signatures?: unknown };
  return (
    signatures !== undefined && signatures !== null && !(Array.isArray(signatures) && signatures.length === 0)
  );
}

async function fetchKeys(
  url: URL,
  { calls, settings }: Pick<VerifyDeps, 'calls' | 'settings'>,
): Promise<JsonWebKeySet> {
  const headers = { accept: 'application/json' };
  const { idleMs } = settings;
  const answer = await calls.call({ method: 'GET', url, headers, idleMs, maxBytes: MAX_KEYS_BYTES });
  const chunks: Uint8Array[] = [];
  for await (const chunk of answer.body) chunks.push(chunk);
  if (answer.status !== 200) throw remoteFailed(url.origin, `HTTP ${answer.status} for its keys`);
  try {
    return z
      .object({ keys: z.array(z.looseObject({ kty: z.string() })) })
      .parse(parseShallowJson(Buffer.concat(chunks).toString('utf8')));
  } catch (error) {
    throw remoteFailed(url.origin, 'its keys are no JSON Web Key Set', { why: String(error) });
  }
}
