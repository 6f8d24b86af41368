import { z } from 'zod';
import type { ReceivePolicy } from './receive-policy.ts';
import type { TransportSpec } from './transport.ts';

/**
 * What two nodes have agreed on at the beginning of a session, as the other one answered.
 *
 * - `matched`, `unavailable`                what this node needs of the other, parted.
 * - `schemas`, `language`, `paymentMethod`  what both have.
 */
export const PeerAgreement = z
  .object({
    matched: z.array(z.string()).readonly(),
    unavailable: z.array(z.string()).readonly(),
    schemas: z.array(z.string()).readonly(),
    language: z.string().optional(),
    paymentMethod: z.string().optional(),
  })
  .readonly();
export type PeerAgreement = z.infer<typeof PeerAgreement>;

/** What a node has to offer: capabilities, and who else has one, as another node may know. */
export interface PeerOffer {
  readonly capabilities: readonly string[];
  readonly suggest: (capability: string) => { readonly id: string; readonly name: string } | undefined;
}

/** Something that one node says to another when a session begins: fields as JSON has them. */
export type PeerTerms = Readonly<Record<string, unknown>>;

/**
 * What is added to what two nodes do with each other. It lives in the thread that speaks with other nodes.
 *
 * - `rules`  new rules about what one other node sends: its requests as they are, and of an answer the value as a payload.
 * - `ask`    what this node asks when a session begins; `capabilities` are those of its agents.
 * - `answer` answers such a question, `agreed` reads such an answer. Both throw for what is none.
 */
export interface PeerExtension {
  rules(): readonly ReceivePolicy[];
  ask(capabilities: readonly string[]): PeerTerms;
  answer(question: PeerTerms, offer: PeerOffer): PeerTerms;
  agreed(answer: PeerTerms): PeerAgreement;
}

/**
 * An extension as the embedder gives it: `spec` says how another thread makes the same. `open` begins it there; `warn` is told
 * what the owner of the node should know.
 */
export interface PeerExtensionOption {
  readonly spec: TransportSpec;
  open(warn: (reason: string) => void): PeerExtension;
}
