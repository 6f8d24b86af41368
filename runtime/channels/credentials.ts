import { type ErrorCode, reasonOf, refused } from '../protocol/errors.ts';
import type { TransportKind } from '../protocol/transport.ts';
import { randomNonce } from '../protocol/signing.ts';
import type { ChannelIdentity } from './channel-event.ts';
import {
  type Challenges,
  type ChannelProof,
  type ChannelSigner,
  type GreetingFields,
  readProof,
  type SignedProof,
  signProof,
} from './channel-proof.ts';

/** Why a hello is not accepted. */
export interface HelloRefusal {
  readonly code: ErrorCode;
  readonly reason: string;
}

/**
 * Who wants to be at the other end of a channel.
 *
 * - `isOurs`  the channel was opened here, and this is who answers.
 * - `resumes` it was open before.
 * - `transport` by which it has connected; undefined where the channel was opened here.
 * - `proof`   a card, and the key that signed it for this connection; undefined unless proofs are required.
 */
export interface AskedChannel extends ChannelIdentity {
  readonly isOurs: boolean;
  readonly resumes: boolean;
  readonly transport?: TransportKind;
  readonly proof: ChannelProof | undefined;
}

/** The verdict on the other end: false or a refusal keeps it out. */
export type Admission = boolean | HelloRefusal | undefined;
export type AdmitChannel = (asked: AskedChannel) => Admission | Promise<Admission>;

/**
 * - `signer` who signs for an agent of ours. @default nobody
 * - `proofs` whether the other end has to prove who it is. @default 'none'
 * - `admit`  says whether another agent may be at the other end. Asked at each hello and, where proofs are required, of
 *            whoever answers ours. @default everybody may
 */
export interface CredentialOptions {
  readonly signer?: (agentId: string) => ChannelSigner | undefined;
  readonly proofs?: 'none' | 'required';
  readonly admit?: AdmitChannel;
}

/** How the two ends of a channel prove to each other who they are, on each connection anew. */
export class Credentials {
  readonly #options: CredentialOptions;

  constructor(options: CredentialOptions) {
    this.#options = options;
  }

  /** A challenge for one connection; '' when nothing has to be proved. */
  challenge(): string {
    return this.#options.proofs === 'required' ? randomNonce() : '';
  }

  /** Signs a greeting for a local agent. Throws REFUSED when it has no signer. */
  prove(greeting: GreetingFields, challenges: Challenges): SignedProof {
    const signer = this.#options.signer?.(greeting.from);
    if (signer === undefined)
      throw refused(`nobody here signs for "${greeting.from}", and the other end wants a proof`);
    return signProof(signer, greeting, challenges);
  }

  /** As `prove`; undefined when the other end asked for no proof. */
  proveIfAsked(greeting: GreetingFields, challenges: Challenges): SignedProof | undefined {
    if (challenges.ofReader === '' || this.#options.signer?.(greeting.from) === undefined) return undefined;
    return this.prove(greeting, challenges);
  }

  /** The proof of the other end if it holds, why it does not, or undefined where none is required. */
  check(
    greeting: GreetingFields,
    challenges: Challenges,
    proof: SignedProof | undefined,
  ): ChannelProof | string | undefined {
    return this.#options.proofs === 'required' ? readProof(proof, greeting, challenges) : undefined;
  }

  /** Asks `admit`. If it throws or rejects, nobody is let in. */
  admit(asked: AskedChannel): HelloRefusal | undefined | Promise<HelloRefusal | undefined> {
    const { admit } = this.#options;
    if (admit === undefined) return undefined;
    const failed = (error: unknown): HelloRefusal => ({
      code: 'REFUSED',
      reason: `whether "${asked.remoteAgentId}" is admitted cannot be said: ${reasonOf(error)}`,
    });
    try {
      const admission = admit(asked);
      if (!(admission instanceof Promise)) return refusalIn(admission, asked);
      return admission.then((decided) => refusalIn(decided, asked), failed);
    } catch (error) {
      return failed(error);
    }
  }
}

function refusalIn(admission: Admission, { remoteAgentId }: AskedChannel): HelloRefusal | undefined {
  if (admission === undefined || admission === true) return undefined;
  if (admission === false) return { code: 'REFUSED', reason: `"${remoteAgentId}" is not admitted` };
  return admission;
}
