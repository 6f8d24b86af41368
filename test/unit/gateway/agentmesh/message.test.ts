import { describe, expect, it } from 'vitest';
import {
  type EnvelopeOf,
  envelopeOfMessage,
  MESH_TYPES,
  type MeshMessage,
  messageOfEnvelope,
  readMeshMessage,
  writeMeshMessage,
} from '../../../../gateway/agentmesh/message.ts';
import {
  deserializeEnvelope,
  parseEnvelope,
  serializeEnvelope,
} from '../../../../runtime/protocol/envelope.ts';

const NOW_MS = Date.UTC(2026, 0, 2);
const PARTIES: EnvelopeOf = { id: 'e1', sender: 'node/mars', recipient: 'venus', tier: 3 };
const REQUEST = {
  intent: 'travel/flights/search',
  parameters: { action: 'search' },
  budget: { max: 2, currency: 'USD' },
  response_format: { type: 'json' },
};
const wire = (changes: Record<string, unknown> = {}): Record<string, unknown> => ({
  type: 'request',
  session_id: 's1',
  sequence: 0,
  timestamp: '2026-01-02T00:00:00.000Z',
  payload: REQUEST,
  ...changes,
});
const read = (changes: Record<string, unknown> = {}): MeshMessage => readMeshMessage(wire(changes), NOW_MS);

describe('readMeshMessage', () => {
  it('reads a message in the spelling of the seed', () => {
    expect(read({ from: 'A', to: 'B', schema: 'x-a/b/v1' })).toEqual({
      type: 'REQUEST',
      sessionId: 's1',
      sequence: 0,
      from: 'A',
      to: 'B',
      timestamp: NOW_MS,
      payload: REQUEST,
      schema: 'x-a/b/v1',
    });
  });

  it('reads the later spelling too (C-18)', () => {
    const { session_id, ...rest } = wire();
    const later = { ...rest, sessionId: session_id, deadlineMs: 5 };
    expect(readMeshMessage(later, NOW_MS)).toMatchObject({ sessionId: 's1', deadlineAtMs: NOW_MS + 5 });
  });

  it.each([
    ['2026-01-02T00:00:00Z', NOW_MS],
    ['2026-01-02T01:00:00.500+01:00', NOW_MS + 500],
    [NOW_MS, NOW_MS],
    [NOW_MS / 1_000, NOW_MS],
    [NOW_MS / 1_000 + 0.25, NOW_MS + 250],
  ])('reads the time %s as milliseconds (C-16)', (timestamp, expected) => {
    expect(read({ timestamp }).timestamp).toBe(expected);
  });

  it('counts a deadline from when the message came (C-15)', () => {
    expect(read({ deadline_ms: 1_500 }).deadlineAtMs).toBe(NOW_MS + 1_500);
    const sent = writeMeshMessage(read({ deadline_ms: 1_500 }), NOW_MS + 500);
    expect(sent['deadline_ms']).toBe(1_000);
    expect(writeMeshMessage(read({ deadline_ms: 5 }), NOW_MS + 500)['deadline_ms']).toBe(0);
  });

  it.each(['REQUEST', 'RESPONSE', 'STATUS', 'ERROR', 'CLOSE'])('knows the type %s (M-21)', (type) => {
    expect(read({ type }).type).toBe(type);
    expect(read({ type: type.toLowerCase() }).type).toBe(type);
  });

  it('knows the messages of negotiation by their former names too (C-12)', () => {
    expect(read({ type: 'capability_negotiation' }).type).toBe('CAPABILITY_NEGOTIATION');
    expect(read({ type: 'capability_request' }).type).toBe('CAPABILITY_NEGOTIATION');
    expect(read({ type: 'capability_response' }).type).toBe('CAPABILITY_NEGOTIATION_RESPONSE');
  });

  it.each([
    ['type', 'knock'],
    ['type', 'toString'],
    ['type', undefined],
    ['session_id', ''],
    ['session_id', 'x'.repeat(300)],
    ['sequence', -1],
    ['sequence', 1.5],
    ['sequence', '0'],
    ['timestamp', 'soon'],
    ['timestamp', Number.POSITIVE_INFINITY],
    ['timestamp', 1e17],
    ['timestamp', -1],
    ['deadline_ms', -1],
    ['schema', 7],
  ])('refuses %s %s, and names the field', (field, value) => {
    expect(() => read({ [field]: value })).toThrow(
      expect.objectContaining({ code: 'INVALID_ENVELOPE', message: expect.stringContaining(field) }),
    );
  });

  it('refuses what is nested too deep, too long, or within itself', () => {
    let deep: unknown = 1;
    for (let at = 0; at < 100_000; at++) deep = [deep];
    expect(() => read({ payload: deep })).toThrow(/nested more than 64 deep/);
    expect(() => read({ payload: 'x'.repeat(70_000) })).toThrow(/more than 65536 characters/);
    const round: { round?: unknown } = {};
    round.round = round;
    expect(() => read({ payload: round })).toThrow(/nested more than 64 deep/);
  });

  it('reads again what it writes', () => {
    const message = read({ from: 'A', to: 'B', schema: 'x-a/b/v1', deadline_ms: 9 });
    expect(readMeshMessage(writeMeshMessage(message, NOW_MS), NOW_MS)).toEqual(message);
    expect(writeMeshMessage(message, NOW_MS)).toEqual({
      ...wire({ from: 'A', to: 'B', schema: 'x-a/b/v1', deadline_ms: 9 }),
    });
  });
});

describe('envelopeOfMessage (C-35)', () => {
  it.each([
    ['REQUEST', 'request'],
    ['RESPONSE', 'response'],
    ['STATUS', 'notification'],
    ['ERROR', 'error'],
    ['CLOSE', 'notification'],
    ['CAPABILITY_NEGOTIATION', 'request'],
    ['CAPABILITY_NEGOTIATION_RESPONSE', 'response'],
  ])('makes of %s an envelope of type %s', (type, expected) => {
    expect(envelopeOfMessage(read({ type }), PARTIES).type).toBe(expected);
  });

  it('carries session, number and schema, and survives JSON (M-01)', () => {
    const envelope = envelopeOfMessage(read({ sequence: 7, schema: 'x-a/b/v1' }), PARTIES);
    expect(envelope).toMatchObject({
      session: { id: 's1', sequence: 7 },
      schema: 'x-a/b/v1',
      correlationId: 's1',
      metadata: { tier: 3, meshType: 'REQUEST' },
    });
    expect(parseEnvelope(envelope)).toEqual(envelope);
    expect(deserializeEnvelope(serializeEnvelope(envelope))).toEqual(envelope);
  });

  it('takes tier, deadline and what it answers from us, not from the payload', () => {
    const payload = { ...REQUEST, tier: 0, metadata: { tier: 0 } };
    const { metadata } = envelopeOfMessage(read({ payload, deadline_ms: 4 }), {
      ...PARTIES,
      inReplyTo: 'e0',
    });
    expect(metadata).toMatchObject({ tier: 3, deadlineAtMs: NOW_MS + 4, inReplyTo: 'e0' });
  });

  it('counts a budget in dollars as the envelope’s, and no other one', () => {
    const budgetOf = (budget: unknown): unknown =>
      envelopeOfMessage(read({ payload: { ...REQUEST, budget } }), PARTIES).metadata?.budget;
    expect(budgetOf({ max: 2, currency: 'USD' })).toEqual({ costUsd: 2 });
    expect(budgetOf({ max: 2, currency: 'EUR' })).toBeUndefined();
    expect(budgetOf({ max: -2, currency: 'USD' })).toBeUndefined();
    expect(budgetOf({ max: 1e300, currency: 'USD' })).toBeUndefined();
    expect(budgetOf(undefined)).toBeUndefined();
  });

  it('names the capability that answers a negotiation', () => {
    const envelope = envelopeOfMessage(read({ type: 'capability_negotiation', payload: {} }), PARTIES);
    expect(envelope.metadata?.capability).toBe('capability_negotiation');
  });
});

describe('messageOfEnvelope (C-35)', () => {
  const PAYLOADS: Readonly<Record<string, unknown>> = {
    REQUEST,
    RESPONSE: { status: 'success', results: [], schema: 'x-a/b/v1' },
    STATUS: { status: 'working', progress: 0.5, estimated_completion_seconds: 3, message: 'half' },
    ERROR: { code: 'timeout', message: 'too late' },
    CLOSE: { reason: 'completed' },
  };

  it.each(MESH_TYPES)('makes of the envelope of %s the same message', (type) => {
    const message = read({ type, payload: PAYLOADS[type] ?? { i_need: ['a'] }, from: 'A', to: 'B' });
    expect(messageOfEnvelope(envelopeOfMessage(message, PARTIES), { from: 'A', to: 'B' })).toEqual(message);
  });

  it('sends no more budget than is left', () => {
    const sent = (budget: unknown, costUsd: number): unknown => {
      const envelope = envelopeOfMessage(read({ payload: { ...REQUEST, budget } }), PARTIES);
      const metadata = { tier: 3 as const, ...envelope.metadata, budget: { costUsd } };
      return (messageOfEnvelope({ ...envelope, metadata }).payload as { budget: unknown }).budget;
    };
    expect(sent({ max: 2, currency: 'USD' }, 0.5)).toEqual({ max: 0.5, currency: 'USD' });
    expect(sent({ max: 2, currency: 'USD' }, 5)).toEqual({ max: 2, currency: 'USD' });
    expect(sent({ max: 1e300, currency: 'USD' }, 5)).toEqual({ max: 5, currency: 'USD' });
    expect(sent(undefined, 5)).toEqual({ max: 5, currency: 'USD' });
    expect(sent({ max: 2, currency: 'EUR' }, 5)).toEqual({ max: 2, currency: 'EUR' });
  });

  it('believes the type that was told only where it is one of the envelope’s', () => {
    const envelope = envelopeOfMessage(read({ type: 'error', payload: PAYLOADS['ERROR'] }), PARTIES);
    const metadata = { tier: 3 as const, meshType: 'CLOSE' };
    expect(messageOfEnvelope({ ...envelope, metadata }).type).toBe('ERROR');
  });

  it.each([
    'task-proposal',
    'task-accept',
    'task-reject',
    'stream-start',
    'stream-data',
    'stream-end',
  ] as const)('has no message for %s', (type) => {
    const envelope = { ...envelopeOfMessage(read(), PARTIES), type };
    expect(() => messageOfEnvelope(envelope)).toThrow(/^The envelope is not valid: type is/);
  });

  it('refuses an envelope without a session, and a payload that is none of the type', () => {
    const { session: _, ...without } = envelopeOfMessage(read(), PARTIES);
    expect(() => messageOfEnvelope(without)).toThrow(/session is missing/);
    const wrong = { ...envelopeOfMessage(read(), PARTIES), payload: {} };
    expect(() => messageOfEnvelope(wrong)).toThrow(/payload\.intent is missing/);
  });
});
