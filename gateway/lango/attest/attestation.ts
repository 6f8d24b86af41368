import { createHash, type KeyObject } from 'node:crypto';
import { z } from 'zod';
import type { RequestMemory } from '../../../runtime/protocol/admission.ts';
import { remoteFailed } from '../../../runtime/protocol/edge-errors.ts';
import { invalidOptions } from '../../../runtime/protocol/errors.ts';
import type { ZKAttestFunc } from '../../../runtime/protocol/firewall.ts';
import { Milliseconds } from '../../../runtime/protocol/milliseconds.ts';
import { PACKAGES_FOR, requirePackages } from '../../../runtime/protocol/optional-packages.ts';
import { parseOptions } from '../../../runtime/protocol/parse-options.ts';
import type { Clock, NewSecret } from '../../../runtime/protocol/seams.ts';
import { responseHash } from '../../admit/firewall-guard.ts';
import { SeenRequests } from '../../admit/seen-requests.ts';
import { publicKeyOfDid } from '../session/did-key.ts';
import { randomFrom } from '../wire/random.ts';
import { isKnowledge, proveKnowledge, SCHNORR_BYTES, schnorrKey, schnorrPublicKey } from './schnorr.ts';

const VERSION = 1;
const TIME_BYTES = 8;
const NONCE_BYTES = 16;
const RANDOM_BYTES = 32;
const HEAD_BYTES = 1 + TIME_BYTES + NONCE_BYTES;
const PROOF_BYTES = HEAD_BYTES + SCHNORR_BYTES;

/**
 * Makes proofs for `Firewall`, or for the `firewall` of a gateway: that whoever has the Ed25519 secret key has given out this
 * result, as this DID, at this time. A proof has 89 bytes: version, Unix milliseconds (8 bytes, big endian), a nonce (16), and
 * Schnorr's R and s (32 each) over ristretto255.
 *
 * Throws INVALID_OPTIONS for a key that is none, and PEERS_MISSING without the package `canonicalize`.
 */
export function schnorrAttestation(
  privateKey: KeyObject,
  { clock, newSecret }: { readonly clock: Pick<Clock, 'now'>; readonly newSecret: NewSecret },
): ZKAttestFunc {
  requirePackages('An attestation', PACKAGES_FOR.attestations);
  const key = schnorrKey(secretOf(privateKey));
  return (hash, didHash) => {
    const head = Buffer.alloc(HEAD_BYTES);
    head.writeUInt8(VERSION);
    head.writeBigUInt64BE(BigInt(clock.now()), 1);
    head.set(randomFrom(newSecret, NONCE_BYTES), 1 + TIME_BYTES);
    const statement = Buffer.concat([head, hash, didHash]);
    return Buffer.concat([head, proveKnowledge(key, statement, randomFrom(newSecret, RANDOM_BYTES))]);
  };
}

function secretOf(privateKey: KeyObject): Uint8Array {
  if (privateKey?.asymmetricKeyType !== 'ed25519' || privateKey.type !== 'private')
    throw invalidOptions('privateKey', privateKey?.type, 'an Ed25519 private key, as of signingKeyPair()');
  return Buffer.from(privateKey.export({ format: 'jwk' }).d as string, 'base64url');
}

/** The raw Ed25519 public key that is known for a DID. */
export type PublicKeyOfDid = (did: string) => Uint8Array | undefined | Promise<Uint8Array | undefined>;

const Options = z.strictObject({
  freshForMs: Milliseconds.default(300_000),
  aheadMs: Milliseconds.default(30_000),
  maxSeen: z.int().positive().default(100_000),
});

/**
 * - `publicKeyOf` the Ed25519 key that is known for a DID. @default that in a `did:key`
 * - `freshForMs`  how old a proof may be. @default 5 minutes
 * - `aheadMs`     how far its clock may be ahead of ours. @default 30 seconds
 * - `maxSeen`     how many proofs are remembered, each as long as it is fresh; with so many, none is taken. @default 100,000
 */
export type AttestationVerifierOptions = z.input<typeof Options> & { readonly publicKeyOf?: PublicKeyOfDid };

/** A result, whose it is said to be, and the proof of that. */
export interface Attested {
  readonly did: string;
  readonly result: unknown;
  readonly proof: Uint8Array;
}

/** Checks proofs of `schnorrAttestation`; takes each statement once. */
export class AttestationVerifier {
  readonly #options: z.output<typeof Options>;
  readonly #publicKeyOf: PublicKeyOfDid;
  readonly #clock: Pick<Clock, 'now'>;
  readonly #seen: RequestMemory = new SeenRequests();

  /** Throws INVALID_OPTIONS, and PEERS_MISSING without the package `canonicalize`. */
  constructor(
    { publicKeyOf = publicKeyOfDid, ...options }: AttestationVerifierOptions,
    { clock }: { readonly clock: Pick<Clock, 'now'> },
  ) {
    requirePackages('A check of attestations', PACKAGES_FOR.attestations);
    this.#options = parseOptions(Options, options, 'AttestationVerifier');
    this.#publicKeyOf = publicKeyOf;
    this.#clock = clock;
  }

  /** Rejects with REMOTE_FAILED saying what is wrong with the proof. */
  async verify({ did, result, proof }: Attested): Promise<void> {
    const failed = (reason: string): Error => remoteFailed(did, `its attestation does not hold: ${reason}`);
    if (proof.length !== PROOF_BYTES || proof[0] !== VERSION) throw failed('it is no proof of this kind');
    const head = Buffer.from(proof.subarray(0, HEAD_BYTES));
    const atMs = Number(head.readBigUInt64BE(1));
    const nowMs = this.#clock.now();
    if (atMs < nowMs - this.#options.freshForMs) throw failed('it is too old');
    if (atMs > nowMs + this.#options.aheadMs) throw failed('it is from the future');
    const known = await this.#publicKeyOf(did);
    const key = known && schnorrPublicKey(known);
    if (key === undefined) throw failed('no key is known for the DID');
    const hash = await responseHash(result).catch(() => {
      throw failed('the result has no canonical form');
    });
    const statement = Buffer.concat([head, hash, sha256(did)]);
    if (!isKnowledge(key, statement, proof.subarray(HEAD_BYTES))) throw failed('the proof is not valid');
    await this.#takeOnce(statement, { untilMs: atMs + this.#options.freshForMs, nowMs }, failed);
  }

  /** By the statement, not by the bytes of the proof: whoever has the secret can make many proofs of one statement. */
  async #takeOnce(
    statement: Uint8Array,
    times: { readonly untilMs: number; readonly nowMs: number },
    failed: (reason: string) => Error,
  ): Promise<void> {
    const name = sha256(statement).toString('base64');
    const noted = await this.#seen.note(name, { ...times, most: this.#options.maxSeen });
    if (noted === 'seen') throw failed('it has been used before');
    if (noted === 'full') throw failed('too many are remembered to tell whether it is new');
  }
}

const sha256 = (data: string | Uint8Array): Buffer => createHash('sha256').update(data).digest();
