import { describe, expect, it } from 'vitest';
import { schemaVersion } from '../../../policies/schema-version.ts';
import type { A2AEnvelope } from '../../../runtime/protocol/envelope.ts';
import type { Verdict } from '../../../runtime/protocol/policy.ts';
import type { RoutingResult } from '../../../runtime/protocol/routing-result.ts';
import { AgentRegistry } from '../../../runtime/routing/agent-registry.ts';
import { A2ARouter } from '../../../runtime/routing/router.ts';
import { cardOf, envelopeOf, standaloneTeam } from './standalone-team.ts';

const L1 = cardOf('earth', { tier: 1 });
const L2 = cardOf('mars', { tier: 2 });

describe('A2ARouter: envelopes (N-D09, N-12.1, N-13.7)', () => {
  it('returns the refusal of what is no envelope, with its code', async () => {
    const { router, observability } = standaloneTeam([L2]);
    const { payload: _payload, ...incomplete } = envelopeOf({ sender: 'mars', recipient: 'mars' });
    expect(await router.send(incomplete as A2AEnvelope)).toMatchObject({
      delivered: false,
      errorCode: 'INVALID_ENVELOPE',
      error: expect.stringContaining('payload is missing'),
    });
    const tomorrow = envelopeOf({ sender: 'mars', recipient: 'mars', schemaVersion: 2 });
    expect(await router.send(tomorrow)).toMatchObject({
      delivered: false,
      errorCode: 'SCHEMA_VERSION_MISMATCH',
      error: 'Expected envelope schemaVersion 1, got 2',
    });
    expect(await router.send(undefined as unknown as A2AEnvelope)).toMatchObject({
      errorCode: 'INVALID_ENVELOPE',
    });
    expect(observability.getMetrics()).toMatchObject({ errorCount: 3, totalMessagesSent: 0 });
  });

  it('refuses a sender that nobody registered', async () => {
    const { router, reached, observability } = standaloneTeam([L2]);
    const envelope = envelopeOf({ sender: 'stranger', recipient: 'mars', metadata: { tier: 0 } });
    expect(await router.send(envelope)).toMatchObject({
      delivered: false,
      errorCode: 'AGENT_NOT_FOUND',
      error: expect.stringContaining('"stranger"'),
    });
    expect(reached(envelope.id)).toEqual([]);
    expect(observability.getRecentEvents()).toContainEqual(
      expect.objectContaining({ type: 'error', security: true }),
    );
  });

  it('judges by the registered card, and tells the recipient the registered tier and sandbox (N-D17, N-D18)', async () => {
    const boxed = cardOf('boxed', { tier: 3, sandboxId: 'box' });
    const { router, inboxes } = standaloneTeam([boxed, cardOf('inside', { sandboxId: 'box' }), L2]);
    const metadata = { tier: 0, priority: 'high' } as const;
    const out = await router.send(envelopeOf({ sender: 'boxed', recipient: 'mars', metadata }));
    expect(out.errorCode).toBe('SANDBOX_VIOLATION');
    await router.send(envelopeOf({ sender: 'boxed', recipient: 'inside', metadata }));
    expect(inboxes.get('inside')?.[0]?.metadata).toEqual({ tier: 3, sandboxId: 'box', priority: 'high' });
    await router.send(
      envelopeOf({ sender: 'mars', recipient: 'inside', metadata: { tier: 0, sandboxId: 'box' } }),
    );
    expect(inboxes.get('inside')?.[1]).toBeUndefined();
  });

  it('shows one envelope to all handlers of an agent, until they unsubscribe, and nobody can change it', async () => {
    const { router, inboxes } = standaloneTeam([L2]);
    const seen: string[] = [];
    const tamper = router.onReceive('mars', (envelope) => {
      seen.push(envelope.sender);
      envelope.sender = 'forged';
    });
    const result = await router.send(envelopeOf({ sender: 'mars', recipient: 'mars' }));
    expect(result).toMatchObject({ delivered: false, errorCode: 'DELIVERY_FAILED' });
    tamper();
    expect(await router.send(envelopeOf({ sender: 'mars', recipient: 'mars' }))).toMatchObject({
      delivered: true,
    });
    expect(seen).toEqual(['mars']);
    expect(inboxes.get('mars')?.map(({ sender }) => sender)).toEqual(['mars', 'mars']);
  });

  it('calls the other handlers of an agent when one throws, and says that one did', async () => {
    const { router, registry } = standaloneTeam([]);
    registry.register(L2);
    const called: string[] = [];
    for (const name of ['first', 'second', 'third']) {
      router.onReceive('mars', () => {
        called.push(name);
        if (name !== 'third') throw new Error(name);
      });
    }
    const result = await router.send(envelopeOf({ sender: 'mars', recipient: 'mars' }));
    expect(result).toMatchObject({ delivered: false, error: 'The receiver of mars failed: first' });
    expect(called).toEqual(['first', 'second', 'third']);
  });

  it('says that nobody receives, and that a receiver failed', async () => {
    const { router, registry, observability } = standaloneTeam([L2]);
    registry.register(cardOf('silent', { tier: 2 }));
    expect(await router.send(envelopeOf({ sender: 'mars', recipient: 'silent' }))).toMatchObject({
      delivered: false,
      errorCode: 'DELIVERY_FAILED',
      error: 'silent is registered, but nobody receives for it',
    });
    router.onReceive('silent', () => Promise.reject(new Error('later')));
    expect((await router.send(envelopeOf({ sender: 'mars', recipient: 'silent' }))).delivered).toBe(true);
    expect(observability.getRecentEvents().at(-1)).toMatchObject({
      type: 'error',
      reason: expect.stringContaining('later'),
    });
  });

  it('runs no handler inside another, however long two agents answer each other', async () => {
    const { router, registry } = standaloneTeam([]);
    let depth = 0;
    let deepest = 0;
    let turns = 0;
    const { promise: isOver, resolve: over } = Promise.withResolvers<void>();
    for (const [self, other] of [
      ['ping', 'pong'],
      ['pong', 'ping'],
    ] as const) {
      registry.register(cardOf(self));
      router.onReceive(self, () => {
        depth += 1;
        deepest = Math.max(deepest, depth);
        if (++turns === 20_000) over();
        else void router.send(envelopeOf({ sender: self, recipient: other }));
        depth -= 1;
      });
    }
    await router.send(envelopeOf({ sender: 'ping', recipient: 'pong' }));
    await isOver;
    expect(deepest).toBe(1);
  });
});

describe('A2ARouter: replies (C-06)', () => {
  it('lets tier 1 answer tier 2 once, under the grant of the request', async () => {
    const { router, inboxes } = standaloneTeam([L1, L2]);
    const metadata = { tier: 2, escalationJustification: 'a question' } as const;
    const asked = envelopeOf({ sender: 'mars', recipient: 'earth', type: 'request', metadata });
    const reply = (id: string) =>
      envelopeOf({
        id,
        sender: 'earth',
        recipient: 'mars',
        type: 'response',
        metadata: { tier: 1, inReplyTo: asked.id },
      });
    expect((await router.send(reply('early'))).errorCode).toBe('TIER_VIOLATION');
    expect((await router.send(asked)).delivered).toBe(true);
    expect((await router.send(reply('answer'))).delivered).toBe(true);
    expect((await router.send(reply('again'))).errorCode).toBe('TIER_VIOLATION');
    expect(inboxes.get('mars')?.map(({ id }) => id)).toEqual(['answer']);
  });

  it('lets a receiver answer from inside its handler', async () => {
    const { router, registry, inboxes } = standaloneTeam([L2]);
    registry.register(L1);
    const answered = Promise.withResolvers<RoutingResult>();
    router.onReceive('earth', ({ id, sender }) => {
      const metadata = { tier: 1, inReplyTo: id } as const;
      const reply = envelopeOf({ sender: 'earth', recipient: sender, type: 'response', metadata });
      router.send(reply).then(answered.resolve, answered.reject);
    });
    const metadata = { tier: 2, escalationJustification: 'a question' } as const;
    await router.send(envelopeOf({ sender: 'mars', recipient: 'earth', type: 'request', metadata }));
    expect(await answered.promise).toMatchObject({ delivered: true, targetAgentId: 'mars' });
    expect(inboxes.get('mars')?.map(({ type }) => type)).toEqual(['response']);
  });

  it('gives no grant for a request that was not delivered', async () => {
    const { router, registry } = standaloneTeam([L2]);
    registry.register(L1);
    const metadata = { tier: 2, escalationJustification: 'a question' } as const;
    const asked = envelopeOf({ sender: 'mars', recipient: 'earth', type: 'request', metadata });
    expect((await router.send(asked)).errorCode).toBe('DELIVERY_FAILED');
    const claim = { tier: 1, inReplyTo: asked.id } as const;
    const reply = envelopeOf({ sender: 'earth', recipient: 'mars', type: 'response', metadata: claim });
    expect((await router.send(reply)).errorCode).toBe('TIER_VIOLATION');
  });

  it('never lets a reply out of a sandbox, and fails such an ask at once', async () => {
    const { router, reached } = standaloneTeam([cardOf('boxed', { sandboxId: 'box' }), cardOf('free')]);
    const asked = envelopeOf({ sender: 'free', recipient: 'boxed', type: 'request' });
    expect((await router.send(asked, { expectsReply: true })).errorCode).toBe('SANDBOX_VIOLATION');
    expect(reached(asked.id)).toEqual([]);
    expect((await router.send(asked)).delivered).toBe(true);
    const metadata = { tier: 3, inReplyTo: asked.id } as const;
    const reply = envelopeOf({ sender: 'boxed', recipient: 'free', type: 'response', metadata });
    expect((await router.send(reply)).errorCode).toBe('SANDBOX_VIOLATION');
  });
});

describe('A2ARouter: broadcast (N-4.2, N-11.3, C-27)', () => {
  it('reaches whom it may and lists the others', async () => {
    const { router, reached, observability } = standaloneTeam([
      cardOf('sun', { tier: 0 }),
      L1,
      L2,
      cardOf('io'),
    ]);
    const envelope = envelopeOf({ sender: 'mars', recipient: '*', type: 'request' });
    expect(await router.send(envelope)).toMatchObject({
      delivered: true,
      path: 'broadcast',
      targetAgentId: '*',
      recipients: ['mars'],
      refused: [
        { agentId: 'sun', code: 'ESCALATION_REQUIRED' },
        { agentId: 'earth', code: 'ESCALATION_REQUIRED' },
        { agentId: 'io', code: 'TIER_VIOLATION' },
      ],
    });
    expect(reached(envelope.id)).toEqual(['mars']);
    expect(observability.getMetrics()).toMatchObject({
      totalMessagesSent: 1,
      totalMessagesReceived: 1,
      errorCount: 3,
    });
  });

  it('reaches the rest when one receiver throws, and says which did not take it', async () => {
    const { router, registry, reached } = standaloneTeam([cardOf('a'), cardOf('z')]);
    registry.register(cardOf('angry'));
    router.onReceive('angry', () => {
      throw new Error('not today');
    });
    registry.register(cardOf('silent'));
    const envelope = envelopeOf({ sender: 'a', recipient: '*' });
    const result = await router.send(envelope);
    expect(result).toMatchObject({
      delivered: false,
      errorCode: 'DELIVERY_FAILED',
      recipients: ['a', 'z'],
      refused: [
        { agentId: 'angry', code: 'DELIVERY_FAILED', reason: 'The receiver of angry failed: not today' },
        { agentId: 'silent', code: 'DELIVERY_FAILED' },
      ],
    });
    expect(reached(envelope.id)).toEqual(['a', 'z']);
  });

  it('lets tier 0 skip the tier rule, not the sandbox', async () => {
    const sun = cardOf('sun', { tier: 0, sandboxId: 'box' });
    const { router } = standaloneTeam([sun, cardOf('inside', { sandboxId: 'box' }), cardOf('outside')], {
      policies: { tiers: [] },
    });
    expect(await router.send(envelopeOf({ sender: 'sun', recipient: '*' }))).toMatchObject({
      recipients: ['sun', 'inside'],
      refused: [{ agentId: 'outside', code: 'SANDBOX_VIOLATION' }],
    });
    expect((await router.send(envelopeOf({ sender: 'sun', recipient: 'inside' }))).errorCode).toBe(
      'TIER_VIOLATION',
    );
  });

  it('does not reach system actors, who can be written to (C-31)', async () => {
    const { router, receive, reached, inboxes } = standaloneTeam([L1]);
    receive('system/loop');
    const all = envelopeOf({ sender: 'earth', recipient: '*' });
    await router.send(all);
    expect(reached(all.id)).toEqual(['earth']);
    const report = envelopeOf({ sender: 'earth', recipient: 'system/loop' });
    expect((await router.send(report)).delivered).toBe(true);
    const order = envelopeOf({ sender: 'system/loop', recipient: 'earth', metadata: { tier: 3 } });
    expect((await router.send(order)).delivered).toBe(true);
    expect(inboxes.get('earth')?.at(-1)?.metadata).toEqual({ tier: 0 });
    const off = router.onReceive('system/other', () => undefined);
    off();
    expect((await router.send(envelopeOf({ sender: 'earth', recipient: 'system/other' }))).errorCode).toBe(
      'AGENT_NOT_FOUND',
    );
  });

  it('is nobody’s inbox', () => {
    const { router } = standaloneTeam([]);
    expect(() => router.onReceive('*', () => undefined)).toThrow(
      expect.objectContaining({ code: 'INVALID_OPTIONS' }),
    );
  });
});

describe('A2ARouter: rules (N-D09, N-E03)', () => {
  it('judges by another tier table from the moment it is set', async () => {
    const { router } = standaloneTeam([L1, L2]);
    const send = async () =>
      (await router.send(envelopeOf({ sender: 'earth', recipient: 'mars' }))).delivered;
    expect(await send()).toBe(false);
    const rule = { sourceTier: 1, allowedTargetTiers: [2], requiresEscalationJustification: false } as const;
    router.setTierConfig({ rules: [rule] });
    expect(await send()).toBe(true);
    expect(() => router.setTierConfig({ rules: [rule, rule] })).toThrow(
      'tierConfig.rules[1].sourceTier is 1',
    );
  });

  it('judges and discovers by another sandbox list from the moment it is set', async () => {
    const { router, registry } = standaloneTeam([cardOf('boxed', { sandboxId: 'box' }), cardOf('free')]);
    const send = async () =>
      (await router.send(envelopeOf({ sender: 'boxed', recipient: 'free' }))).delivered;
    expect(await send()).toBe(false);
    router.setSandboxConfig({ enforced: true, crossSandboxAllowList: ['free'] });
    expect(await send()).toBe(true);
    expect(registry.viewFor('boxed').getById('free')).toBeDefined();
  });

  it('says so when no rule takes the configuration', () => {
    const router = new A2ARouter({ registry: new AgentRegistry(), policies: [schemaVersion()] });
    expect(() => router.setTierConfig({ rules: [] })).toThrow(
      expect.objectContaining({
        code: 'INVALID_OPTIONS',
        message: expect.stringContaining('schema-version'),
      }),
    );
  });

  it('hands on when to try again', async () => {
    const verdict: Verdict = { code: 'REFUSED', reason: 'busy', retryAfterMs: 250 };
    const { registry } = standaloneTeam([L2]);
    const router = new A2ARouter({ registry, policies: [{ name: 'busy', judge: () => verdict }] });
    const refused = { delivered: false, errorCode: 'REFUSED', error: 'busy', retryAfterMs: 250 };
    expect(await router.send(envelopeOf({ sender: 'mars', recipient: 'mars' }))).toMatchObject(refused);
    expect(await router.send(envelopeOf({ sender: 'mars', recipient: '*' }))).toMatchObject({
      recipients: [],
      refused: [{ agentId: 'mars', code: 'REFUSED', reason: 'busy', retryAfterMs: 250 }],
    });
  });
});
