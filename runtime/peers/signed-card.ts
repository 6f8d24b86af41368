import { z } from 'zod';
import type { AgentCard } from '../protocol/agent-card.ts';
import { BROADCAST } from '../protocol/envelope.ts';
import { invalidCard, isOrreryError, reasonOf } from '../protocol/errors.ts';
import { parseShallowJson } from '../protocol/json.ts';
import { parseOptions } from '../protocol/parse-options.ts';
import { faultsOf } from '../protocol/payload-faults.ts';
import { isSystemId } from '../protocol/policy.ts';
import { isSignedBy, publicKeyFrom, type SigningKeyPair, signBytes } from '../protocol/signing.ts';
import { registeredCard } from '../routing/registered-card.ts';
import { UNKNOWN_NODE } from '../routing/remote-grant.ts';

/** The longest text of a card, in bytes of UTF-8. */
export const MAX_CARD_BYTES = 65_536;

/** The name of a node, which its owner gives it. It has no `/`, no space, and nothing that cannot be seen. */
export const NodeId = z
  .string()
  .regex(/^[^/\s\p{C}]{1,128}$/u, 'a name of at most 128 characters, without "/" and spaces')
  .refine((id) => id !== UNKNOWN_NODE, 'a name that is not reserved');

const AgentId = z
  .string()
  .min(1)
  .max(1_024)
  .refine((id) => id !== BROADCAST && !isSystemId(id), 'an id that is not reserved');

/** 32 bytes in base64url. The last character says four bits: so one key has one text. */
export const PublicKey = z
  .string()
  .regex(/^[\w-]{42}[AEIMQUYcgkosw048]$/, 'a raw Ed25519 public key in base64url');

/** 64 bytes in base64url; one signature has one text. */
const Signature = z.string().regex(/^[\w-]{85}[AQgw]$/, 'an Ed25519 signature in base64url');

const CardText = z
  .string()
  .refine(
    (text) => text.length <= MAX_CARD_BYTES && Buffer.byteLength(text) <= MAX_CARD_BYTES,
    `a text of at most ${MAX_CARD_BYTES} bytes`,
  );

/** Milliseconds since 1970, or another number that grows. */
const Count = z.int().nonnegative();

/**
 * The card of an agent as its node announces it, and as other nodes hand it on.
 *
 * - `nodeId`    the name of the node. It is trusted by its key, not by this name.
 * - `publicKey` the raw Ed25519 key of the node, in base64url.
 * - `bootEpoch` grows with each start of the node.
 * - `revision`  grows in one run of the node each time that it signs something of this agent.
 * - `card`      the card as JSON text: what is signed is this text. Without it the card is withdrawn.
 * - `signature` over `statementOf` it, in base64url.
 */
export const SignedCard = z
  .strictObject({
    nodeId: NodeId,
    publicKey: PublicKey,
    agentId: AgentId,
    bootEpoch: Count,
    revision: Count,
    issuedAtMs: Count,
    expiresAtMs: Count,
    card: CardText.optional(),
    signature: Signature,
  })
  .refine(({ issuedAtMs, expiresAtMs }) => issuedAtMs < expiresAtMs, {
    path: ['expiresAtMs'],
    message: 'a time after issuedAtMs',
  });
export type SignedCard = z.infer<typeof SignedCard>;

/** What a node says of a card beside the card itself. */
export type CardTerms = Pick<SignedCard, 'nodeId' | 'bootEpoch' | 'revision' | 'issuedAtMs' | 'expiresAtMs'>;

/** A signed card that holds. `card` is frozen, and absent if it is withdrawn. */
export interface ReadCard {
  readonly signed: SignedCard;
  readonly card: AgentCard | undefined;
}

const CONTEXT = 'orrery/signed-card/1';
const utf8 = new TextEncoder();

/** The bytes that are signed: a JSON list, so that no other fields give the same bytes. */
function statementOf(signed: Omit<SignedCard, 'signature'>): Uint8Array {
  const { nodeId, publicKey, agentId, bootEpoch, revision, issuedAtMs, expiresAtMs, card } = signed;
  const terms = [nodeId, publicKey, agentId, bootEpoch, revision, issuedAtMs, expiresAtMs];
  return utf8.encode(JSON.stringify([CONTEXT, ...terms, card ?? null]));
}

/** Throws INVALID_CARD if the card is none or too long, INVALID_OPTIONS naming the term that is wrong. */
export function signCard(card: AgentCard, terms: CardTerms, keys: SigningKeyPair): SignedCard {
  const text = JSON.stringify(registeredCard(card));
  const bytes = Buffer.byteLength(text);
  if (bytes > MAX_CARD_BYTES)
    throw invalidCard(`"${card.id}" has ${bytes} bytes, and ${MAX_CARD_BYTES} is the most to announce`);
  return sign(terms, { agentId: card.id, card: text }, keys);
}

/** Says that the node has this agent no longer. Until it expires it keeps away older cards of the agent. */
export function signWithdrawal(agentId: string, terms: CardTerms, keys: SigningKeyPair): SignedCard {
  return sign(terms, { agentId }, keys);
}

function sign(
  { nodeId, bootEpoch, revision, issuedAtMs, expiresAtMs }: CardTerms,
  said: Pick<SignedCard, 'agentId' | 'card'>,
  { publicKey, privateKey }: SigningKeyPair,
): SignedCard {
  const unsigned = { nodeId, publicKey, ...said, bootEpoch, revision, issuedAtMs, expiresAtMs };
  const signature = Buffer.from(signBytes(statementOf(unsigned), privateKey)).toString('base64url');
  return parseOptions(SignedCard, { ...unsigned, signature }, 'signedCard');
}

/** Checks shape and sizes, and nothing that costs more. Returns what is wrong as a text that names field and value. */
export function parseSignedCard(value: unknown): SignedCard | string {
  const parsed = SignedCard.safeParse(value, { reportInput: true });
  return parsed.success ? parsed.data : faultsOf(parsed.error, value, 'signedCard');
}

/** Whether the key in it has signed it. */
export function isProved(signed: SignedCard): boolean {
  try {
    const key = publicKeyFrom(signed.publicKey);
    return isSignedBy(key, statementOf(signed), Buffer.from(signed.signature, 'base64url'));
  } catch {
    return false; // These 32 bytes are no key.
  }
}

/** The card in it, if it is one and for the agent that is named; else a text that says what is wrong. */
export function openCard(signed: SignedCard): ReadCard | string {
  if (signed.card === undefined) return { signed, card: undefined };
  try {
    const card = registeredCard(parseShallowJson(signed.card));
    if (card.id === signed.agentId) return { signed, card };
    return `signedCard.agentId is ${JSON.stringify(signed.agentId)}, but the card is of ${JSON.stringify(card.id)}`;
  } catch (error) {
    return isOrreryError(error) ? error.message : `signedCard.card is no JSON: ${reasonOf(error)}`;
  }
}

/** The card, if all of it holds: shape, signature and content. Else a text that says what is wrong. */
export function readSignedCard(value: unknown): ReadCard | string {
  const signed = parseSignedCard(value);
  if (typeof signed === 'string') return signed;
  if (isProved(signed)) return openCard(signed);
  return `signedCard.signature is "${signed.signature}", which the key "${signed.publicKey}" has not made over this card`;
}
