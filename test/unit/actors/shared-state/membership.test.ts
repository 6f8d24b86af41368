import { describe, expect, it } from 'vitest';
import { InProcessHub } from '../../../../actors/shared-state/in-process-hub.ts';
import { InMemoryMemberKeys, memberKeyFrom } from '../../../../actors/shared-state/member-keys.ts';
import { EnvelopeMedium, syncMessageOf } from '../../../../actors/shared-state/sync-envelope.ts';
import { SyncMembership } from '../../../../actors/shared-state/sync-membership.ts';
import { sandboxReach } from '../../../../runtime/protocol/policy.ts';
import { A2AEnvelope } from '../../../../runtime/protocol/envelope.ts';
import { EnvelopeFactory } from '../../../../runtime/protocol/envelope-factory.ts';
import { FakeClock } from '../../../fixtures/fake-clock.ts';
import { keysOf, SyncTeam, turns } from './sync-team.ts';

const member = (agentId: string, sandboxId?: string) => ({
  agentId,
  tier: 1 as const,
  sandboxId,
  publicKey: keysOf(agentId).publicKey,
});
const codeOf = (work: () => void): string | undefined => {
  try {
    work();
  } catch (error) {
    return (error as { code: string }).code;
  }
  return undefined;
};

describe('SyncMembership (C-32)', () => {
  it('judges once, at join', () => {
    const judged: string[] = [];
    const membership = new SyncMembership({
      judgeJoin: ({ id, tier }, members) => {
        judged.push(`${id}:${tier} ${members.map((other) => other.id)}`);
        return id === 'pluto' ? { code: 'TIER_VIOLATION', reason: 'not a planet' } : undefined;
      },
    });
    membership.join(member('mars'));
    membership.join(member('mars'));
    membership.join(member('venus'));
    expect(codeOf(() => membership.join(member('pluto')))).toBe('TIER_VIOLATION');
    expect(judged).toEqual(['mars:1 ', 'venus:1 mars', 'pluto:1 mars,venus']);
    expect(membership.ids()).toEqual(['mars', 'venus']);
    expect(membership.keyOf('pluto')).toBeUndefined();
  });

  it('lets nobody in across sandboxes, whatever the rule says', () => {
    const membership = new SyncMembership();
    membership.join(member('mars', 'red'));
    expect(codeOf(() => membership.join(member('venus', 'green')))).toBe('SANDBOX_VIOLATION');
    expect(codeOf(() => membership.join(member('earth')))).toBe('SANDBOX_VIOLATION');
    membership.join(member('phobos', 'red'));
    expect(membership.ids()).toEqual(['mars', 'phobos']);
  });

  it('follows the lists of a sandbox in both directions', () => {
    const sandbox = sandboxReach({ enforced: true, crossSandboxAllowList: ['earth'] });
    const membership = new SyncMembership({ sandbox });
    membership.join(member('mars', 'red'));
    membership.join(member('earth'));
    expect(codeOf(() => membership.join(member('venus', 'green')))).toBe('SANDBOX_VIOLATION');
  });

  it('keeps one key a member, and forgets it with the member', () => {
    const keys = new InMemoryMemberKeys();
    const membership = new SyncMembership({ keys });
    keys.set('x', memberKeyFrom(keysOf('x').publicKey));
    expect(membership.keyOf('x')).toBeUndefined();
    const left: string[] = [];
    const stop = membership.onLeave((id) => left.push(id));
    membership.join(member('mars'));
    expect(codeOf(() => membership.join({ ...member('mars'), publicKey: keysOf('x').publicKey }))).toBe(
      'REFUSED',
    );
    expect(codeOf(() => membership.join({ ...member('venus'), publicKey: 'no key' }))).toBe(
      'INVALID_OPTIONS',
    );
    expect(codeOf(() => membership.join(member('__proto__')))).toBe('INVALID_OPTIONS');
    expect(keys.get('mars')).toBeDefined();
    membership.leave('mars');
    membership.leave('mars');
    stop();
    expect([keys.get('mars'), membership.has('mars'), left]).toEqual([undefined, false, ['mars']]);
  });
});

describe('The media of a sync channel (N-D14)', () => {
  it('InProcessHub passes copies on, later, to all others or to one', async () => {
    const hub = new InProcessHub();
    const [a, b, c] = ['a', 'b', 'c'].map((id) => hub.connect(id));
    const heard: string[] = [];
    for (const [id, end] of Object.entries({ a, b, c })) {
      end?.onMessage((message) => {
        (message as { hops: string[] }).hops.push(id);
        heard.push((message as { hops: string[] }).hops.join());
      });
    }
    const message = { hops: [] as string[] };
    expect(await a?.publish(message as never)).toBe(2);
    await a?.send('c', message as never);
    await a?.send('nobody', message as never);
    await turns();
    expect(heard).toEqual(['b', 'c', 'c']);
    expect(message.hops).toEqual([]);
    expect(() => hub.connect('a')).toThrow(expect.objectContaining({ code: 'REFUSED' }));
    await b?.close();
    expect(await a?.publish(message as never)).toBe(1);
    expect(hub.connect('b')).toBeDefined();
  });

  it('EnvelopeMedium carries a channel over stream-data envelopes as JSON', async () => {
    const clock = new FakeClock();
    let made = 0;
    const factory = new EnvelopeFactory({
      seams: { clock, newId: () => `e-${made++}` },
      cardOf: () => ({ tier: 1 }),
    });
    const media = new Map<string, EnvelopeMedium>();
    const carried: A2AEnvelope[] = [];
    const hub = {
      connect: (agentId: string) => {
        const send = async (envelope: A2AEnvelope) => {
          const json = JSON.stringify(envelope);
          carried.push(envelope);
          queueMicrotask(() => media.get(envelope.recipient)?.receive(JSON.parse(json)));
        };
        const medium = new EnvelopeMedium({ agentId, factory, members: () => ['a', 'b', 'c'], send });
        media.set(agentId, medium);
        return medium;
      },
    };
    const team = new SyncTeam({ hub, limits: { joinTimeoutMs: 100 } });
    for (const id of ['a', 'b']) {
      const opening = team.opening(id);
      await turns();
      await team.pass(200);
      await opening;
    }
    team.at('a').document.getText('text').insert(0, 'over envelopes');
    await turns();
    expect(team.at('b').document.getText('text').toString()).toBe('over envelopes');
    expect(new Set(carried.map(({ type }) => type))).toEqual(new Set(['stream-data']));
    for (const envelope of carried) expect(A2AEnvelope.parse(envelope)).toEqual(envelope);
    await team.close();
  });

  it('EnvelopeMedium rejects when nobody could be reached', async () => {
    const factory = { create: (envelope: unknown) => envelope as never };
    const members = () => ['a', 'b'];
    const send = () => Promise.reject(new Error('unreachable'));
    const team = new SyncTeam({
      hub: { connect: (agentId) => new EnvelopeMedium({ agentId, factory, members, send }) },
    });
    await expect(team.opening('a')).rejects.toMatchObject({ code: 'DELIVERY_FAILED' });
    expect(team.clock.pending).toBe(0);
  });

  it('names the sender of an envelope that carries no sync message', () => {
    const envelope = {
      id: 'e',
      schemaVersion: 1,
      sender: 'mars',
      recipient: 'venus',
      type: 'stream-data',
      timestamp: 1,
      payload: { sourceAgentId: 'mars', payload: '%%' },
    };
    const failed = (change: object) => {
      expect(() => syncMessageOf({ ...envelope, ...change })).toThrow(
        expect.objectContaining({
          code: 'CRDT_DESERIALIZATION_FAILED',
          details: expect.objectContaining({ agentId: 'mars' }),
        }),
      );
    };
    failed({});
    failed({ schema: 'orrery/crdt-sync/v1' });
    failed({ schema: 'orrery/crdt-sync/v1', type: 'request' });
    expect(() => syncMessageOf({})).toThrow(expect.objectContaining({ code: 'INVALID_ENVELOPE' }));
  });
});
