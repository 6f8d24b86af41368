import { describe, expect, it, vi } from 'vitest';
import {
  principalOfSession,
  SessionStore,
  type SessionStoreOptions,
} from '../../../../gateway/lango/session/session-store.ts';
import { Principal } from '../../../../runtime/protocol/principal.ts';
import { FakeClock } from '../../../fixtures/fake-clock.ts';
import { secretsInOrder } from '../../../fixtures/lango/lango-house.ts';

const alice = { id: 'peer-a', did: 'did:key:a' };
const bob = { id: 'peer-b', did: 'did:key:b' };

function storeWith(options: SessionStoreOptions = {}) {
  const clock = new FakeClock();
  return { clock, store: new SessionStore(options, { clock, newSecret: secretsInOrder() }) };
}

describe('The sessions of peers', () => {
  it('are found by their token, of all that there are (L-11, L-13)', () => {
    const { store } = storeWith();
    const tokens = [alice, bob].map((peer) => store.create(peer).token);
    expect(tokens).toEqual([
      expect.stringMatching(/^[0-9a-f]{64}$/),
      expect.stringMatching(/^[0-9a-f]{64}$/),
    ]);
    expect(new Set(tokens).size).toBe(2);
    expect(store.findByToken(tokens[1] as string, bob)?.peerDid).toBe(bob.did);
    expect(store.findByToken(tokens[0] as string, alice)?.peerDid).toBe(alice.did);
    for (const token of ['', 'x', tokens[1] as string])
      expect(store.findByToken(token, alice)).toBeUndefined();
  });

  it('are good on streams of the peer that began them, and of no other', () => {
    const { store } = storeWith();
    const { token } = store.create(alice);
    expect(store.validate(alice.did, token, alice)).toBe(true);
    expect(store.validate(alice.did, token, bob)).toBe(false);
    expect(store.validate(alice.did, token, { ...alice, id: bob.id })).toBe(false);
    expect(store.validate(alice.did, token, { ...alice, did: bob.did })).toBe(false);
    expect(store.validate(bob.did, token, bob)).toBe(false);
  });

  it('expire, and are removed by whoever looks (L-14)', () => {
    const { store, clock } = storeWith({ ttlMs: 1_000 });
    const { token, session } = store.create(alice);
    expect(session.expiresAtMs - session.createdAtMs).toBe(1_000);
    clock.advance(999);
    expect(store.validate(alice.did, token, alice)).toBe(true);
    clock.advance(1);
    expect(store.findByToken(token, bob)).toBeUndefined();
    expect(store.remove(alice.did)).toBe(false);
    store.create(alice);
    clock.advance(1_000);
    expect([store.cleanup(), store.get(alice.did), store.activeSessions()]).toEqual([1, undefined, []]);
  });

  it('are one a DID: a new one replaces the old', () => {
    const { store } = storeWith();
    const { token } = store.create(alice);
    const { token: newer } = store.create({ ...alice, id: 'peer-a2' });
    expect(store.activeSessions()).toMatchObject([{ peerDid: alice.did, peerId: 'peer-a2' }]);
    expect(store.findByToken(token, alice)).toBeUndefined();
    expect(store.findByToken(newer, { ...alice, id: 'peer-a2' })).toBeDefined();
  });

  it('are so many at most; those that have expired make room, others do not', () => {
    const { store, clock } = storeWith({ maxSessions: 1, ttlMs: 1_000 });
    store.create(alice);
    expect(() => store.create(bob)).toThrow('too many sessions');
    store.create(alice);
    clock.advance(1_000);
    store.create(bob);
    expect(store.activeSessions()).toMatchObject([{ peerDid: bob.did }]);
  });

  it('end for a reason, which is told and remembered for a while', () => {
    const onInvalidated = vi.fn();
    const { store } = storeWith({ maxHistory: 2, onInvalidated });
    for (const reason of ['logout', 'security_event', 'manual_revoke'] as const) {
      const { token } = store.create(alice);
      expect(store.invalidate(alice.did, reason)).toBe(true);
      expect(store.validate(alice.did, token, alice)).toBe(false);
    }
    expect(store.invalidate(alice.did, 'logout')).toBe(false);
    expect(store.history().map(({ reason }) => reason)).toEqual(['security_event', 'manual_revoke']);
    expect(onInvalidated).toHaveBeenCalledTimes(3);
  });

  it('end by condition, and all together', () => {
    const { store } = storeWith();
    for (const peer of [alice, bob]) store.create(peer);
    expect(store.invalidateWhere(({ peerId }) => peerId === bob.id, 'reputation_drop')).toBe(1);
    expect(store.activeSessions()).toMatchObject([{ peerDid: alice.did }]);
    expect(store.invalidateAll('security_event')).toBe(1);
    expect(store.activeSessions()).toEqual([]);
  });

  it('end after failures one after the other; a success begins the count anew', () => {
    const { store } = storeWith({ failures: 3 });
    store.create(alice);
    for (const isSuccess of [false, false, true, false, false]) store.noteOutcome(alice.did, isSuccess);
    expect(store.get(alice.did)).toBeDefined();
    store.noteOutcome(alice.did, false);
    expect(store.get(alice.did)).toBeUndefined();
    store.noteOutcome(alice.did, false);
    expect(store.history()).toHaveLength(1);
  });

  it('have a principal, which ends with them (C-25)', () => {
    const { store } = storeWith();
    const { session } = store.create(alice);
    const principal = principalOfSession(session);
    expect(Principal.parse(principal)).toEqual(principal);
    expect(principal).toMatchObject({
      id: alice.did,
      kind: 'agent',
      roles: [],
      expiresAtMs: session.expiresAtMs,
    });
  });

  it.each([[{ ttlMs: 0 }], [{ maxSessions: 0 }], [{ failures: -1 }], [{ unknown: 1 }]])(
    'are not kept with %j',
    (options) => {
      expect(() => storeWith(options as SessionStoreOptions)).toThrow('SessionStore.');
    },
  );
});
