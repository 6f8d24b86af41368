import { createPublicKey, verify } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { beginSession } from '../../../../gateway/lango/session/begin-session.ts';
import { didKeyOf, isSignedByDid, publicKeyOfDid } from '../../../../gateway/lango/session/did-key.ts';
import { HANDSHAKE_PROTOCOL, signedBytes } from '../../../../gateway/lango/session/handshake.ts';
import {
  HandshakeResponder,
  type HandshakeResponderOptions,
} from '../../../../gateway/lango/session/handshake-responder.ts';
import { SessionStore } from '../../../../gateway/lango/session/session-store.ts';
import type { LangoPeer } from '../../../../gateway/lango/wire/byte-stream.ts';
import { FakeClock } from '../../../fixtures/fake-clock.ts';
import { asked, heard } from '../../../fixtures/lango/bare-peer.ts';
import { secretsInOrder, someone } from '../../../fixtures/lango/lango-house.ts';
import { streamPair } from '../../../fixtures/lango/stream-pair.ts';

const START_MS = Date.UTC(2026, 0, 2, 3, 4, 5);

function house(options: Partial<HandshakeResponderOptions> = {}) {
  const clock = new FakeClock(START_MS);
  const [bob, alice] = [someone('bob'), someone('alice')];
  const sessions = new SessionStore({ ttlMs: 60_000 }, { clock, newSecret: secretsInOrder() });
  const responder = new HandshakeResponder(
    { identity: bob, sessions, admits: () => true, ...options },
    { clock },
  );
  const streamOf = (peer: LangoPeer) => {
    const [theirs, ours] = streamPair();
    return { theirs, ours, served: responder.handleStream(ours, peer) };
  };
  return { clock, bob, alice, sessions, streamOf };
}

const base64 = (bytes: Uint8Array): string => Buffer.from(bytes).toString('base64');

/** A challenge as a bare client makes it: the signature is over nonce, 8 bytes of time, big endian, and DID. */
function challengeOf(who: ReturnType<typeof someone>, timestamp: number, nonceByte = 7): string {
  const nonce = Buffer.alloc(32, nonceByte);
  const time = Buffer.from(timestamp.toString(16).padStart(16, '0'), 'hex');
  const signature = who.sign(Buffer.concat([nonce, time, Buffer.from(who.did)]));
  return `${JSON.stringify({ nonce: base64(nonce), timestamp, senderDid: who.did, signature: base64(signature) })}\n`;
}

const NOW_S = START_MS / 1_000;

describe('A handshake', () => {
  it('gives the peer that proves its DID a token, which the one who is asked has made', async () => {
    const { bob, alice, sessions, streamOf, clock } = house();
    const { theirs, served } = streamOf(alice.peer);
    const deps = { clock, newSecret: secretsInOrder('alice') };
    const { token, expiresAtMs } = await beginSession(theirs, { identity: alice, peer: bob.peer }, deps);
    await served;
    expect(expiresAtMs).toBe(START_MS + 60_000);
    expect(sessions.findByToken(token, alice.peer)?.peerDid).toBe(alice.did);
    expect(clock.pending).toBe(0);
    expect(HANDSHAKE_PROTOCOL).toBe('/orrery/lango-handshake/1.0.0');
  });

  it('is understood by a bare client', async () => {
    const { bob, alice, streamOf, sessions } = house();
    const answer = JSON.parse(await asked(streamOf(alice.peer).theirs, challengeOf(alice, NOW_S)));
    expect(Object.keys(answer)).toEqual(['nonce', 'timestamp', 'did', 'signature', 'token', 'expiresAt']);
    expect(answer).toMatchObject({ timestamp: NOW_S, did: bob.did, expiresAt: '2026-01-02T03:05:05Z' });
    const time = Buffer.from(NOW_S.toString(16).padStart(16, '0'), 'hex');
    const signed = Buffer.concat([Buffer.alloc(32, 7), time, Buffer.from(bob.did + alice.did)]);
    const x = Buffer.from(publicKeyOfDid(bob.did) as Uint8Array).toString('base64url');
    const key = createPublicKey({ key: { kty: 'OKP', crv: 'Ed25519', x }, format: 'jwk' });
    expect(verify(null, signed, key, Buffer.from(answer.signature, 'base64'))).toBe(true);
    expect(sessions.findByToken(answer.token, alice.peer)).toBeDefined();
  });

  it('takes a nonce once, for as long as a challenge with it is not stale', async () => {
    const { alice, streamOf, clock } = house();
    const challenge = challengeOf(alice, NOW_S);
    const ask = () => asked(streamOf(alice.peer).theirs, challenge);
    expect(await ask()).toContain('"token"');
    expect(await ask()).toContain('the nonce was used before');
    clock.advance(299_999);
    expect(await ask()).toContain('the nonce was used before');
    clock.advance(1);
    expect(await ask()).toContain('the nonce was used before');
    clock.advance(1);
    expect(await ask()).toContain('it is stale');
  });

  it.each([
    [-301, 'it is stale'],
    [31, 'it is from the future'],
  ])('takes no challenge of a time %i s from ours', async (seconds, told) => {
    const { alice, streamOf } = house();
    const answer = await asked(streamOf(alice.peer).theirs, challengeOf(alice, NOW_S + seconds));
    expect(answer).toBe(
      `{"error":"The request is not authenticated: the challenge cannot be taken: ${told}"}\n`,
    );
  });

  it('takes no challenge of another DID than that of the stream, as one who passes it on has it', async () => {
    const { alice, streamOf, sessions } = house();
    const answer = await asked(streamOf(someone('mallory').peer).theirs, challengeOf(alice, NOW_S));
    expect(answer).toContain('the DID is not that of the peer');
    expect(sessions.activeSessions()).toEqual([]);
  });

  it('takes no challenge that is signed by somebody else, and does not use up its nonce', async () => {
    const { alice, streamOf } = house();
    const forged = JSON.stringify({
      ...JSON.parse(challengeOf(alice, NOW_S)),
      signature: JSON.parse(challengeOf(someone('mallory'), NOW_S)).signature,
    });
    expect(await asked(streamOf(alice.peer).theirs, forged)).toContain('the signature is not valid');
    expect(await asked(streamOf(alice.peer).theirs, challengeOf(alice, NOW_S))).toContain('"token"');
  });

  it.each(['nonsense', '{}', '{"nonce":"AA==","timestamp":1,"senderDid":"x","signature":"AA=="}'])(
    'takes no challenge such as %s',
    async (text) => {
      const { alice, streamOf } = house();
      expect(await asked(streamOf(alice.peer).theirs, text)).toMatch(/^\{"error":"[^"]+"\}\n$/);
    },
  );

  it('is refused to whom is not admitted, and what is thrown over it stays at home', async () => {
    const refused = house({ admits: async () => false });
    const [first] = [refused.streamOf(refused.alice.peer)];
    expect(await asked(first.theirs, challengeOf(refused.alice, NOW_S))).toContain(
      'this peer is not admitted',
    );
    const broken = house({ admits: () => Promise.reject(new Error('/home/operator/peers.db')) });
    expect(await asked(broken.streamOf(broken.alice.peer).theirs, challengeOf(broken.alice, NOW_S))).toBe(
      '{"error":"The handshake failed"}\n',
    );
    expect(broken.sessions.activeSessions()).toEqual([]);
  });

  it('is had so often in a minute', async () => {
    const { alice, streamOf, clock } = house({ perMinute: 2 });
    const ask = (nonce: number) => asked(streamOf(alice.peer).theirs, challengeOf(alice, NOW_S, nonce));
    expect(await ask(1)).toContain('"token"');
    expect(await ask(2)).toContain('"token"');
    expect(await ask(3)).toContain('too many handshakes');
    clock.advance(30_000);
    expect(await ask(4)).toContain('"token"');
  });

  it('remembers so many nonces; with more, nobody is let in', async () => {
    const { alice, streamOf } = house({ maxNonces: 1 });
    expect(await asked(streamOf(alice.peer).theirs, challengeOf(alice, NOW_S, 1))).toContain('"token"');
    expect(await asked(streamOf(alice.peer).theirs, challengeOf(alice, NOW_S, 2))).toContain('too many');
  });

  it.each([
    ['of another DID', { did: someone('mallory').did }, 'it is of another DID'],
    ['to another challenge', { nonce: base64(Buffer.alloc(32)) }, 'it is to another challenge'],
    ['that is stale', { timestamp: NOW_S - 301 }, 'it is stale'],
    ['with a signature of nobody', { signature: base64(Buffer.alloc(64)) }, 'its signature is not valid'],
  ])('does not take an answer %s', async (_, changed, told) => {
    const { bob, alice, clock } = house();
    const [theirs, ours] = streamPair();
    const deps = { clock, newSecret: secretsInOrder('alice') };
    const begun = beginSession(theirs, { identity: alice, peer: bob.peer }, deps);
    const { nonce } = JSON.parse(await heard(ours));
    const signature = bob.sign(signedBytes(Buffer.from(nonce, 'base64'), NOW_S, bob.did, alice.did));
    const honest = { nonce, timestamp: NOW_S, did: bob.did, signature: base64(signature) };
    ours.send(
      Buffer.from(JSON.stringify({ ...honest, token: 'x', expiresAt: '2026-01-02T03:05:05Z', ...changed })),
    );
    await expect(begun).rejects.toMatchObject({
      code: 'REMOTE_FAILED',
      message: expect.stringContaining(told),
    });
    expect(theirs.abortedWith).toBeDefined();
  });

  it('takes its time and no more, and ends when it is not wanted', async () => {
    const { bob, alice, clock } = house();
    const deps = { clock, newSecret: secretsInOrder('alice') };
    const [late] = streamPair();
    const begun = beginSession(late, { identity: alice, peer: bob.peer }, deps);
    const ends = expect(begun).rejects.toMatchObject({ code: 'DEADLINE_EXCEEDED' });
    await clock.advanceAsync(30_000);
    await ends;
    const controller = new AbortController();
    const [unwanted] = streamPair();
    const options = { identity: alice, peer: bob.peer, signal: controller.signal };
    const cut = expect(beginSession(unwanted, options, deps)).rejects.toMatchObject({ code: 'CANCELLED' });
    controller.abort();
    await cut;
    expect([late.abortedWith, unwanted.abortedWith]).toMatchObject([
      { code: 'DEADLINE_EXCEEDED' },
      { code: 'CANCELLED' },
    ]);
  });
});

describe('A DID of a key', () => {
  // The example of the did:key specification for Ed25519.
  const DID = 'did:key:z6MkhaXgBZDvotDkL5257faiztiGiC2QtKLGpbnnEGta2doK';

  it('is that of its specification, there and back', () => {
    expect(didKeyOf(publicKeyOfDid(DID) as Uint8Array)).toBe(DID);
    expect(publicKeyOfDid(DID)).toHaveLength(32);
  });

  it.each([
    '',
    'did:key:',
    'did:key:z',
    'did:key:z0OIl',
    'did:web:x',
    `${DID}1`,
    `did:key:z${'1'.repeat(100_000)}`,
  ])('is not %s', (did) => {
    expect(publicKeyOfDid(did)).toBeUndefined();
    expect(isSignedByDid(did, Buffer.alloc(1), Buffer.alloc(64))).toBe(false);
  });
});
