import { describe, expect, it } from 'vitest';
import { EnvelopeFactory } from '../../../runtime/protocol/envelope-factory.ts';
import { FakeClock } from '../../fixtures/fake-clock.ts';

const clock = new FakeClock(5_000);

function factoryOf(): EnvelopeFactory {
  let count = 0;
  const cards: Record<string, { tier: 0 | 1 | 2 | 3; sandboxId?: string }> = {
    mars: { tier: 2 },
    venus: { tier: 2, sandboxId: 'box' },
  };
  return new EnvelopeFactory({ seams: { clock, newId: () => `id-${++count}` }, cardOf: (id) => cards[id] });
}

describe('EnvelopeFactory (N-D20, N-2.1, N-2.2, N-2.4, N-13.6, N-D06)', () => {
  it('gives an envelope id, time, version, and its sender from the card', () => {
    expect(
      factoryOf().create({ sender: 'venus', recipient: 'mars', type: 'request', payload: { a: 1 } }),
    ).toEqual({
      id: 'id-1',
      schemaVersion: 1,
      sender: 'venus',
      recipient: 'mars',
      correlationId: 'id-1',
      type: 'request',
      timestamp: 5_000,
      payload: { a: 1 },
      metadata: { tier: 2, sandboxId: 'box' },
    });
  });

  it('takes tier and sandbox from the card, not from what its maker claims', () => {
    const metadata = { tier: 0 as const, sandboxId: 'claimed', priority: 'high' };
    const { metadata: made } = factoryOf().create({
      sender: 'mars',
      recipient: 'venus',
      type: 'notification',
      metadata,
    });
    expect(made).toEqual({ tier: 2, priority: 'high' });
  });

  it('writes an absent payload as null, which JSON keeps', () => {
    expect(
      factoryOf().create({ sender: 'mars', recipient: 'venus', type: 'notification' }).payload,
    ).toBeNull();
  });

  it('lets the system send without a card', () => {
    expect(
      factoryOf().create({ sender: 'system/host', recipient: 'mars', type: 'request' }).metadata,
    ).toEqual({ tier: 0 });
  });

  it('refuses a sender that nobody registered', () => {
    const run = () => factoryOf().create({ sender: 'pluto', recipient: 'mars', type: 'request' });
    expect(run).toThrow(
      expect.objectContaining({ code: 'AGENT_NOT_FOUND', message: expect.stringContaining('"pluto"') }),
    );
  });

  it('refuses a payload that JSON cannot carry, naming field and value', () => {
    const payload = { items: [{ at: new Date(0) }] };
    const run = () => factoryOf().create({ sender: 'mars', recipient: 'venus', type: 'request', payload });
    expect(run).toThrow(
      expect.objectContaining({
        code: 'NOT_SERIALISABLE',
        message: expect.stringContaining('payload.items[0].at holds an instance of Date'),
      }),
    );
  });

  it('refuses metadata that JSON cannot carry', () => {
    const run = () =>
      factoryOf().create({ sender: 'mars', recipient: 'venus', type: 'request', metadata: { count: 1n } });
    expect(run).toThrow(expect.objectContaining({ code: 'NOT_SERIALISABLE' }));
  });

  it('lets a structured payload be what it is', () => {
    const payload = { at: new Date(0) };
    const made = factoryOf().create({
      sender: 'mars',
      recipient: 'venus',
      type: 'request',
      payload,
      carries: 'structured',
    });
    expect(made.payload).toBe(payload);
  });

  it('passes on conversation, deadline and path of the envelope in hand, and only narrows them', () => {
    const factory = factoryOf();
    const cause = factory.create({
      sender: 'mars',
      recipient: 'types.check',
      type: 'request',
      metadata: { routingHint: 'capability', deadlineAtMs: 9_000 },
    });
    const next = { sender: 'venus', recipient: 'mars', type: 'request', cause } as const;
    const later = factory.create({ ...next, metadata: { deadlineAtMs: 10_000 } });
    expect(later).toMatchObject({
      correlationId: cause.id,
      metadata: {
        deadlineAtMs: 9_000,
        path: [{ agent: 'venus', capability: 'types.check', envelopeId: cause.id }],
      },
    });
    expect(factory.create({ ...next, metadata: { deadlineAtMs: 8_000 } }).metadata?.deadlineAtMs).toBe(8_000);
    expect(factory.create({ ...next, cause: later }).metadata?.path).toEqual([
      { agent: 'venus', capability: 'types.check', envelopeId: cause.id },
      { agent: 'venus', capability: '', envelopeId: later.id },
    ]);
  });

  it('adds no hop for a notification, which asks nobody for work', () => {
    const factory = factoryOf();
    const cause = factory.create({ sender: 'mars', recipient: 'venus', type: 'notification' });
    const { metadata } = factory.create({ sender: 'venus', recipient: 'mars', type: 'request', cause });
    expect(metadata?.path).toBeUndefined();
  });

  it('answers in the conversation and within the deadline of what it answers, without its hop', () => {
    const factory = factoryOf();
    const asked = factory.create({
      sender: 'mars',
      recipient: 'venus',
      type: 'request',
      correlationId: 'thread',
      metadata: { deadlineAtMs: 9_000, capability: 'x' },
    });
    expect(factory.reply(asked, { payload: 'done' })).toMatchObject({
      sender: 'venus',
      recipient: 'mars',
      type: 'response',
      correlationId: 'thread',
      payload: 'done',
      metadata: { inReplyTo: asked.id, deadlineAtMs: 9_000 },
    });
    expect(factory.reply(asked, {}).metadata?.path).toBeUndefined();
  });

  it('asks who answers what was addressed to everybody or to a capability', () => {
    const factory = factoryOf();
    const broadcast = factory.create({ sender: 'mars', recipient: '*', type: 'request' });
    expect(() => factory.reply(broadcast, {})).toThrow(expect.objectContaining({ code: 'INVALID_OPTIONS' }));
    expect(factory.reply(broadcast, { sender: 'venus' }).sender).toBe('venus');
  });
});

describe('The budget of an envelope (F-04)', () => {
  const work = { sender: 'mars', recipient: 'venus', type: 'request' as const };
  const causeWith = (budget: { tokens?: number; costUsd?: number; hops?: number }) =>
    factoryOf().create({ ...work, sender: 'venus', recipient: 'mars', metadata: { budget } });

  it('is what its maker chooses', () => {
    expect(causeWith({ tokens: 5, hops: 1 }).metadata?.budget).toEqual({ tokens: 5, hops: 1 });
  });

  it('is passed on, narrowed by what is chosen, and by a hop where it asks for work', () => {
    const cause = causeWith({ tokens: 5, costUsd: 1, hops: 2 });
    const metadata = { budget: { tokens: 9, costUsd: 0.5 } };
    expect(factoryOf().create({ ...work, cause, metadata }).metadata?.budget).toEqual({
      tokens: 5,
      costUsd: 0.5,
      hops: 1,
    });
    expect(factoryOf().create({ ...work, type: 'notification', cause }).metadata?.budget).toEqual({
      tokens: 5,
      costUsd: 1,
      hops: 2,
    });
  });

  it('is passed on by a reply as it is', () => {
    const cause = causeWith({ tokens: 5, hops: 0 });
    expect(factoryOf().reply(cause, {}).metadata?.budget).toEqual({ tokens: 5, hops: 0 });
  });

  it('allows no delegation without hops: HOP_LIMIT', () => {
    const cause = causeWith({ hops: 0 });
    expect(() => factoryOf().create({ ...work, cause })).toThrow(
      expect.objectContaining({ code: 'HOP_LIMIT', details: { agentId: 'mars' } }),
    );
  });

  it('is refused with INVALID_OPTIONS when it is none, naming field and value', () => {
    const metadata = { budget: { tokens: -5 } };
    expect(() => factoryOf().create({ ...work, metadata })).toThrow(
      expect.objectContaining({
        code: 'INVALID_OPTIONS',
        message: expect.stringContaining('metadata.budget.tokens is -5'),
      }),
    );
  });
});
