import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  A2A_MESSAGE_TYPES,
  type A2AEnvelope,
  A2AEnvelope as A2AEnvelopeSchema,
  deserializeEnvelope,
  parseEnvelope,
  serializeEnvelope,
} from '../../runtime/protocol/envelope.ts';
import { EnvelopeFactory } from '../../runtime/protocol/envelope-factory.ts';
import { systemSeams } from '../../runtime/protocol/system-seams.ts';
import { cardOf, standaloneTeam } from '../unit/routing/standalone-team.ts';
import { arbAgentId } from './arbitraries/agent-card.ts';
import { arbA2AEnvelope, arbMessageType } from './arbitraries/envelope.ts';
import { arbJson, arbText } from './arbitraries/json.ts';
import { arbTier } from './arbitraries/tier-pair.ts';

const SEED_TYPES = [
  'request',
  'response',
  'notification',
  'task-proposal',
  'task-accept',
  'task-reject',
  'stream-start',
  'stream-data',
  'stream-end',
  'error',
];

const arbWanted = () =>
  fc.record(
    {
      sender: arbAgentId(),
      recipient: fc.oneof(arbAgentId(), fc.constant('*')),
      type: arbMessageType(),
      payload: arbJson(),
      correlationId: arbText({ minLength: 1 }),
      schema: arbText(),
    },
    { requiredKeys: ['sender', 'recipient', 'type', 'payload'] },
  );

describe('Envelopes (N-P06, N-P07, N-2.3, N-13.1, N-13.2, N-13.3, N-P08, N-P09, N-2.5)', () => {
  it('Feature: a2a-mcp-protocols, Property 6: A2A Envelope structure and uniqueness', () => {
    fc.assert(
      fc.property(
        fc.array(arbWanted(), { minLength: 1, maxLength: 20, size: 'max' }),
        arbTier(),
        (wanted, tier) => {
          const factories = [1, 2].map(
            () => new EnvelopeFactory({ seams: systemSeams(), cardOf: () => ({ tier }) }),
          );
          const envelopes = factories.flatMap((factory) => wanted.map((fields) => factory.create(fields)));
          expect(new Set(envelopes.map(({ id }) => id)).size).toBe(2 * wanted.length);
          for (const [index, envelope] of envelopes.entries()) {
            const { sender, recipient, type, payload } = wanted[
              index % wanted.length
            ] as (typeof wanted)[number];
            expect(envelope).toMatchObject({ schemaVersion: 1, sender, recipient, type });
            expect(envelope.payload).toStrictEqual(payload);
            expect(envelope.timestamp).toBeGreaterThan(0);
            expect(envelope.metadata?.tier).toBe(tier);
            expect(parseEnvelope(envelope)).toStrictEqual(envelope);
          }
        },
      ),
      { numRuns: 100 },
    );
  });

  it('Feature: a2a-mcp-protocols, Property 7: A2A Envelope serialization round trip', () => {
    fc.assert(
      fc.property(arbA2AEnvelope(), (envelope) => {
        const json = serializeEnvelope(envelope);
        expect((JSON.parse(json) as A2AEnvelope).schemaVersion).toBe(1);
        expect(deserializeEnvelope(json)).toStrictEqual(envelope);
      }),
      { numRuns: 500 },
    );
  });

  it('Feature: a2a-mcp-protocols, Property 8: Correlation threading', async () => {
    const arbSent = arbA2AEnvelope({
      sender: fc.constantFrom('mars', 'venus'),
      recipient: fc.constantFrom('mars', 'venus', '*'),
      correlationId: fc.constantFrom('one', 'two', '__proto__'),
      timestamp: fc.integer({ min: 1, max: 5 }),
      metadata: fc.constant(undefined),
    });
    await fc.assert(
      fc.asyncProperty(fc.array(arbSent, { maxLength: 30, size: 'max' }), async (envelopes) => {
        const { router } = standaloneTeam([cardOf('mars'), cardOf('venus')]);
        for (const envelope of envelopes) expect((await router.send(envelope)).delivered).toBe(true);
        for (const correlationId of ['one', 'two', '__proto__', 'none']) {
          const expected = envelopes.filter((envelope) => envelope.correlationId === correlationId);
          expected.sort((one, other) => one.timestamp - other.timestamp);
          expect(router.thread(correlationId).map(({ id }) => id)).toEqual(expected.map(({ id }) => id));
        }
      }),
      { numRuns: 100 },
    );
  });

  it('Feature: a2a-mcp-protocols, Property 9: Message type validation', () => {
    expect([...A2A_MESSAGE_TYPES]).toEqual(SEED_TYPES);
    const arbOther = fc.oneof(
      fc.string(),
      fc.constantFrom('heartbeat', 'Request', 'stream_start', 'task-', ' request', 'REQUEST'),
      fc.constantFrom(undefined, null, 0, 1, ['request'], { type: 'request' }),
    );
    fc.assert(
      fc.property(arbA2AEnvelope(), fc.constantFrom(...SEED_TYPES), arbOther, (envelope, type, other) => {
        expect(A2AEnvelopeSchema.safeParse({ ...envelope, type }).success).toBe(true);
        const isValid = typeof other === 'string' && SEED_TYPES.includes(other);
        expect(A2AEnvelopeSchema.safeParse({ ...envelope, type: other }).success).toBe(isValid);
      }),
      { numRuns: 300 },
    );
  });
});
