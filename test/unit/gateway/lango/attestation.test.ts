import { createHash } from 'node:crypto';
import { ed25519, ristretto255 } from '@noble/curves/ed25519.js';
import canonicalize from 'canonicalize';
import { describe, expect, it } from 'vitest';
import { firewallGuard } from '../../../../gateway/admit/firewall-guard.ts';
import {
  AttestationVerifier,
  type AttestationVerifierOptions,
  schnorrAttestation,
} from '../../../../gateway/lango/attest/attestation.ts';
import {
  isKnowledge,
  proveKnowledge,
  schnorrKey,
  schnorrPublicKey,
} from '../../../../gateway/lango/attest/schnorr.ts';
import { publicKeyOfDid } from '../../../../gateway/lango/session/did-key.ts';
import { signingKeyPair } from '../../../../runtime/protocol/signing.ts';
import { FakeClock } from '../../../fixtures/fake-clock.ts';
import { secretsInOrder, someone } from '../../../fixtures/lango/lango-house.ts';

const RESULT = { b: 1, a: ['x', { c: 2 }] };

function world(options: AttestationVerifierOptions = {}) {
  const clock = new FakeClock();
  const alice = someone('alice');
  const zkAttest = schnorrAttestation(alice.privateKey, { clock, newSecret: secretsInOrder() });
  const guard = firewallGuard({ zkAttest, did: alice.did }, { clock, tell: () => undefined });
  const verifier = new AttestationVerifier(options, { clock });
  const proofOf = async (result: unknown) =>
    Buffer.from((await guard.attest(result))?.proof as string, 'base64');
  return { clock, alice, verifier, proofOf };
}

const sha256 = (data: string | Uint8Array) => createHash('sha256').update(data).digest();

describe('An attestation of a result', () => {
  it('holds for the result and the DID that it was made for (L-23, L-24)', async () => {
    const { alice, verifier, proofOf } = world();
    const proof = await proofOf(RESULT);
    expect(proof).toHaveLength(89);
    await verifier.verify({ did: alice.did, result: { a: ['x', { c: 2 }], b: 1 }, proof });
  });

  it('is a Schnorr proof over ristretto255, as its documentation says', async () => {
    const { alice, proofOf, clock } = world();
    const proof = await proofOf(RESULT);
    expect([proof[0], Number(proof.readBigUInt64BE(1))]).toEqual([1, clock.now()]);
    const statement = Buffer.concat([
      proof.subarray(0, 25),
      sha256(canonicalize(RESULT) as string),
      sha256(alice.did),
    ]);
    const key = ed25519.Point.fromBytes(publicKeyOfDid(alice.did) as Uint8Array);
    const Y = new ristretto255.Point(key);
    const hash = createHash('sha512');
    const domain = Buffer.from('orrery/attestation/schnorr-ristretto255/1');
    for (const part of [domain, Buffer.from('challenge'), Y.toBytes(), proof.subarray(25, 57), statement]) {
      const length = Buffer.alloc(4);
      length.writeUInt32BE(part.length);
      hash.update(length).update(part);
    }
    const number = (bytes: Uint8Array) => BigInt(`0x${Buffer.from(bytes).reverse().toString('hex')}`);
    const c = number(hash.digest()) % ristretto255.Point.Fn.ORDER;
    const R = ristretto255.Point.fromBytes(proof.subarray(25, 57));
    expect(ristretto255.Point.BASE.multiply(number(proof.subarray(57))).equals(R.add(Y.multiply(c)))).toBe(
      true,
    );
  });

  it('does not hold for another result, for another DID, or if any byte of it is another', async () => {
    const { alice, verifier, proofOf } = world();
    const proof = await proofOf(RESULT);
    const fails = async (attested: Partial<Parameters<typeof verifier.verify>[0]>) =>
      expect(verifier.verify({ did: alice.did, result: RESULT, proof, ...attested })).rejects.toMatchObject({
        code: 'REMOTE_FAILED',
      });
    await fails({ result: { ...RESULT, b: 2 } });
    await fails({ did: someone('mallory').did });
    for (let at = 0; at < proof.length; at++) {
      const other = Buffer.from(proof);
      other[at] = (other[at] as number) ^ 1;
      await fails({ proof: other });
    }
    for (const length of [0, 1, 88]) await fails({ proof: proof.subarray(0, length) });
    await fails({ proof: Buffer.concat([proof, Buffer.alloc(1)]) });
    await verifier.verify({ did: alice.did, result: RESULT, proof });
  });

  it('holds once: what is remembered is what it says, not its bytes', async () => {
    const clock = new FakeClock();
    const { publicKey, privateKey } = signingKeyPair();
    const key = schnorrKey(Buffer.from(privateKey.export({ format: 'jwk' }).d as string, 'base64url'));
    const verifier = new AttestationVerifier(
      { publicKeyOf: () => Buffer.from(publicKey, 'base64url') },
      { clock },
    );
    const head = Buffer.alloc(25);
    head[0] = 1;
    head.writeBigUInt64BE(BigInt(clock.now()), 1);
    const did = 'did:example:alice';
    const statement = Buffer.concat([head, sha256(canonicalize(RESULT) as string), sha256(did)]);
    const proofs = [1, 2].map((byte) =>
      Buffer.concat([head, proveKnowledge(key, statement, Buffer.alloc(32, byte))]),
    );
    expect(proofs[0]).not.toEqual(proofs[1]);
    await verifier.verify({ did, result: RESULT, proof: proofs[0] as Buffer });
    for (const proof of proofs)
      await expect(verifier.verify({ did, result: RESULT, proof })).rejects.toThrow('used before');
  });

  it('of the same result made twice holds both times', async () => {
    const { alice, verifier, proofOf } = world();
    for (const proof of [await proofOf(RESULT), await proofOf(RESULT)])
      await verifier.verify({ did: alice.did, result: RESULT, proof });
  });

  it('is remembered for as long as it is fresh', async () => {
    const { alice, verifier, proofOf, clock } = world({ freshForMs: 1_000 });
    const proof = await proofOf(RESULT);
    await verifier.verify({ did: alice.did, result: RESULT, proof });
    clock.advance(1_000);
    const again = () => verifier.verify({ did: alice.did, result: RESULT, proof });
    await expect(again()).rejects.toThrow('used before');
    clock.advance(1);
    await expect(again()).rejects.toThrow('too old');
  });

  it('of a clock that is far ahead does not hold', async () => {
    const { alice, proofOf, clock } = world();
    clock.advance(30_001);
    const proof = await proofOf(RESULT);
    const early = new AttestationVerifier({}, { clock: new FakeClock(clock.now() - 30_001) });
    await expect(early.verify({ did: alice.did, result: RESULT, proof })).rejects.toThrow('future');
  });

  it('does not hold while too many are remembered, nor for a DID whose key is not known', async () => {
    const { alice, verifier, proofOf } = world({ maxSeen: 1 });
    await verifier.verify({ did: alice.did, result: RESULT, proof: await proofOf(RESULT) });
    await expect(
      verifier.verify({ did: alice.did, result: RESULT, proof: await proofOf(RESULT) }),
    ).rejects.toThrow('too many');
    await expect(
      verifier.verify({ did: 'did:web:alice', result: RESULT, proof: await proofOf(RESULT) }),
    ).rejects.toThrow('no key is known');
  });

  it.each([[{ a: '\ud800' }], [{ a: 1n }], [undefined]])(
    'does not hold for what has no canonical form',
    async (result) => {
      const { alice, verifier, proofOf } = world();
      const proof = await proofOf(RESULT);
      await expect(verifier.verify({ did: alice.did, result, proof })).rejects.toMatchObject({
        code: 'REMOTE_FAILED',
      });
    },
  );

  it('is not made with a key of another kind', () => {
    const deps = { clock: new FakeClock(), newSecret: secretsInOrder() };
    expect(() => schnorrAttestation('key' as never, deps)).toThrow(
      'privateKey is undefined, expected an Ed25519',
    );
  });
});

describe('A proof of knowledge', () => {
  const key = schnorrKey(Buffer.alloc(32, 9));
  const statement = Buffer.from('statement');
  const proof = proveKnowledge(key, statement, Buffer.alloc(32, 1));

  it('does not show two commitments for two statements with the same randomness, which would give the secret away', () => {
    const other = proveKnowledge(key, Buffer.from('other'), Buffer.alloc(32, 1));
    expect(Buffer.from(other.subarray(0, 32))).not.toEqual(Buffer.from(proof.subarray(0, 32)));
    expect(isKnowledge(key.publicKey, statement, proof)).toBe(true);
  });

  it('is not one with the order added to its answer, nor for the neutral element', () => {
    const L = ristretto255.Point.Fn.ORDER;
    const number = (bytes: Uint8Array) => BigInt(`0x${Buffer.from(bytes).reverse().toString('hex')}`);
    const more = number(proof.subarray(32)) + L;
    const bytes = Buffer.from(more.toString(16).padStart(64, '0'), 'hex').reverse();
    expect(isKnowledge(key.publicKey, statement, Buffer.concat([proof.subarray(0, 32), bytes]))).toBe(false);
    expect(isKnowledge(new Uint8Array(32), statement, new Uint8Array(64))).toBe(false);
  });

  it.each([
    Buffer.alloc(32),
    Buffer.from(`01${'00'.repeat(31)}`, 'hex'),
    Buffer.alloc(31),
    Buffer.alloc(32, 255),
  ])('has no key in %j', (bytes) => {
    expect(schnorrPublicKey(bytes)).toBeUndefined();
  });
});
