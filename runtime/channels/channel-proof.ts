import { z } from 'zod';
import { type AgentCard, parseAgentCard } from '../protocol/agent-card.ts';
import { reasonOf } from '../protocol/errors.ts';
import { isSignedBy, publicKeyFrom, type SigningKeyPair, signBytes } from '../protocol/signing.ts';

/**
 * A signed introduction as it crosses.
 *
 * - `card`      the agent's card as JSON text: what is signed is this text.
 * - `publicKey` a raw Ed25519 key in base64url; whether it is the agent's, `admit` knows.
 * - `signature` over `proofStatement`, in base64url.
 */
export const SignedProof = z.object({
  card: z.string(),
  publicKey: z.string(),
  signature: z.string(),
});
export type SignedProof = z.infer<typeof SignedProof>;

/** A proof that holds: whoever has this key says of itself what the card says. */
export interface ChannelProof {
  readonly card: AgentCard;
  readonly publicKey: string;
}

/** Who signs for one agent. `sign` makes the Ed25519 signature of `bytes` with the other half of `publicKey`. */
export interface ChannelSigner {
  readonly card: AgentCard;
  readonly publicKey: string;
  readonly sign: (bytes: Uint8Array) => Uint8Array;
}

/** The signer of an agent whose key is here. */
export const channelSigner = (card: AgentCard, { publicKey, privateKey }: SigningKeyPair): ChannelSigner => ({
  card,
  publicKey,
  sign: (bytes) => signBytes(bytes, privateKey),
});

/** The content of a greeting, without its proof. */
export interface GreetingFields {
  readonly version: number;
  readonly channel: string;
  readonly from: string;
  readonly to: string;
  readonly received: number;
  readonly passedOver?: number | undefined;
  readonly windowSize: number;
  readonly maxFrameBytes: number;
  readonly resumes?: boolean;
}

/**
 * What makes one connection's proofs worthless on every other: the challenge of the end that reads the proof, and that of
 * the end that gives it ('' without one).
 */
export interface Challenges {
  readonly ofReader: string;
  readonly ofGiver: string;
}

const PROOF_CONTEXT = 'orrery/channel-proof/1';
const utf8 = new TextEncoder();

/** The bytes that are signed: which end says what, to whom, over which channel, in answer to which challenge. */
function proofStatement(
  greeting: GreetingFields,
  { ofReader, ofGiver }: Challenges,
  { card, publicKey }: Pick<SignedProof, 'card' | 'publicKey'>,
): Uint8Array {
  const { version, channel, from, to, received, passedOver, windowSize, maxFrameBytes, resumes } = greeting;
  const end = resumes === undefined ? 'accepts' : resumes ? 'resumes' : 'opens';
  const greets = [version, channel, from, to, received, passedOver ?? null, windowSize, maxFrameBytes];
  return utf8.encode(JSON.stringify([PROOF_CONTEXT, end, ...greets, ofReader, ofGiver, card, publicKey]));
}

export function signProof(
  { card, publicKey, sign }: ChannelSigner,
  greeting: GreetingFields,
  challenges: Challenges,
): SignedProof {
  const said = { card: JSON.stringify(card), publicKey };
  const signature = sign(proofStatement(greeting, challenges, said));
  return { ...said, signature: Buffer.from(signature).toString('base64url') };
}

/** The proof, or a sentence that says why it is none. */
export function readProof(
  proof: SignedProof | undefined,
  greeting: GreetingFields,
  challenges: Challenges,
): ChannelProof | string {
  if (proof === undefined) return `"${greeting.from}" brings no proof of who it is`;
  const { publicKey } = proof;
  try {
    const key = publicKeyFrom(publicKey);
    // One key has one name: whoever keeps lists of keys compares texts.
    if (key.export({ format: 'jwk' }).x !== publicKey) return 'the public key is not written as it should be';
    const statement = proofStatement(greeting, challenges, proof);
    if (!isSignedBy(key, statement, Buffer.from(proof.signature, 'base64url')))
      return `the signature of "${greeting.from}" does not fit what it says on this connection`;
    const card = parseAgentCard(JSON.parse(proof.card));
    if (card.id !== greeting.from) return `"${greeting.from}" shows the card of "${card.id}"`;
    return { card, publicKey };
  } catch (error) {
    return `the proof of "${greeting.from}" cannot be read: ${reasonOf(error)}`;
  }
}
