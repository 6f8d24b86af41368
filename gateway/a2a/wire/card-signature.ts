import canonicalize from 'canonicalize';
import { createLocalJWKSet, FlattenedSign, type FlattenedVerifyGetKey, flattenedVerify } from 'jose';
import { z } from 'zod';
import { invalidCard } from '../../../runtime/protocol/errors.ts';
import { ALGORITHMS, type CardKey, parseCardKey, type JsonWebKeySet } from './card-key.ts';
import { signedPartOf } from './card-shape.ts';
import type { Json } from './json.ts';

/** The card with its signature; other signatures are gone. */
export type CardSigner = (card: Json) => Promise<Json>;

/**
 * Signs cards: a JWS over the card in canonical JSON (RFC 8785), detached, as A2A 1.0 has it. What a card has beside the
 * fields of 1.0 is not covered. Throws INVALID_OPTIONS naming what the key lacks.
 */
export function cardSigner(given: CardKey): CardSigner {
  const { kid, alg, privateKey } = parseCardKey(given);
  const { jwksUrl } = given;
  const header = { alg, kid, typ: 'JOSE', ...(jwksUrl === undefined ? {} : { jku: jwksUrl }) };
  return async (card) => {
    const { protected: head, signature } = await new FlattenedSign(payloadOf(card))
      .setProtectedHeader(header)
      .sign(privateKey);
    return {
      ...(card as Record<string, Json>),
      signatures: [{ ...(head === undefined ? {} : { protected: head }), signature }],
    };
  };
}

const Signatures = z.object({
  signatures: z
    .array(
      z.object({
        protected: z.string().min(1),
        signature: z.string().min(1),
        header: z.record(z.string(), z.unknown()).optional(),
      }),
    )
    .min(1),
});

/**
 * The id of the key that has signed the card, when some signature holds by a key of `keys`; else throws INVALID_CARD. The
 * keys are the verifier's own choice: nothing is fetched from where the card says that they are.
 */
export async function verifyCard(card: unknown, keys: JsonWebKeySet): Promise<string> {
  const parsed = Signatures.safeParse(card);
  if (!parsed.success) throw invalidCard('signatures: expected at least one');
  const payload = Buffer.from(payloadOf(card)).toString('base64url');
  const find = createLocalJWKSet(keys) as FlattenedVerifyGetKey;
  for (const { protected: head, signature } of parsed.data.signatures) {
    try {
      const verified = await flattenedVerify({ payload, protected: head, signature }, find, {
        algorithms: [...ALGORITHMS],
      });
      const { kid } = verified.protectedHeader ?? {};
      if (kid !== undefined) return kid;
    } catch {
      // Another signature may hold: one is enough.
    }
  }
  throw invalidCard('signatures: none of them holds');
}

function payloadOf(card: unknown): Uint8Array {
  const text = canonicalize(signedPartOf(card));
  if (text === undefined) throw invalidCard('it is no JSON');
  return new TextEncoder().encode(text);
}
