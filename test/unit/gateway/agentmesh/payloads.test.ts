import { describe, expect, it } from 'vitest';
import { PAYLOAD_TYPES, type PayloadType, readPayload } from '../../../../gateway/agentmesh/payloads.ts';

const WHOLE: Readonly<Record<PayloadType, Readonly<Record<string, unknown>>>> = {
  REQUEST: {
    intent: 'travel/flights/search',
    parameters: {},
    budget: { max: 2, currency: 'USD' },
    response_format: { type: 'json', schema: 'x-a/b/v1' },
    priority: 'high',
  },
  RESPONSE: { status: 'success', results: null, schema: 'x-a/b/v1' },
  STATUS: { status: 'working', progress: 1, estimated_completion_seconds: 0, message: '' },
  ERROR: { code: 'timeout', message: '', retry_after_seconds: 2, fallback_amid: 'A' },
  CLOSE: { reason: 'completed', summary: '', reputation_feedback: { score: 1, tags: ['fast'] } },
};
const WRONG: readonly (readonly [PayloadType, string, unknown])[] = [
  ['REQUEST', 'intent', ''],
  ['REQUEST', 'parameters', []],
  ['REQUEST', 'budget', { max: -1, currency: 'USD' }],
  ['REQUEST', 'response_format', 'json'],
  ['REQUEST', 'priority', 'whenever'],
  ['RESPONSE', 'status', 'fine'],
  ['RESPONSE', 'schema', 1],
  ['STATUS', 'progress', 1.1],
  ['STATUS', 'progress', -0.1],
  ['STATUS', 'estimated_completion_seconds', -1],
  ['ERROR', 'code', ''],
  ['ERROR', 'retry_after_seconds', 'soon'],
  ['CLOSE', 'reason', ''],
  ['CLOSE', 'reputation_feedback', { score: 2 }],
  ['CLOSE', 'reputation_feedback', 2],
  ['CLOSE', 'reputation_feedback', 'good'],
];

describe('readPayload (M-21)', () => {
  it.each(PAYLOAD_TYPES)('reads a whole %s as it is', (type) => {
    expect(readPayload(type, WHOLE[type])).toEqual({ isValid: true, payload: WHOLE[type] });
  });

  const needsAllBut = (type: PayloadType, optional: readonly string[]): void => {
    for (const field of Object.keys(WHOLE[type])) {
      const { [field]: _left, ...without } = WHOLE[type];
      expect(readPayload(type, without).isValid, field).toBe(optional.includes(field));
    }
  };

  it('REQUEST has intent, parameters, budget?, response_format (M-22)', () => {
    needsAllBut('REQUEST', ['budget', 'priority']);
  });

  it('RESPONSE has status, results, schema (M-23)', () => {
    needsAllBut('RESPONSE', []);
  });

  it('STATUS has status, progress, estimated_completion_seconds, message (M-24)', () => {
    needsAllBut('STATUS', []);
  });

  it('ERROR has code, message, retry_after_seconds?, fallback_amid? (M-25)', () => {
    needsAllBut('ERROR', ['retry_after_seconds', 'fallback_amid']);
  });

  it('CLOSE has reason, summary?, reputation_feedback? (M-26)', () => {
    needsAllBut('CLOSE', ['summary', 'reputation_feedback']);
  });

  it.each(WRONG)('finds in %s the fault of %s: %j', (type, field, value) => {
    const reading = readPayload(type, { ...WHOLE[type], [field]: value });
    expect(reading).toMatchObject({ isValid: false, issues: [{ path: expect.arrayContaining([field]) }] });
  });

  it('reads a plain number as feedback, and a priority (C-14)', () => {
    const { payload } = readPayload('CLOSE', { reason: 'completed', reputation_feedback: 0.8 });
    expect(payload).toEqual({ reason: 'completed', reputation_feedback: { score: 0.8, tags: [] } });
    expect(readPayload('REQUEST', WHOLE.REQUEST).payload).toMatchObject({ priority: 'high' });
  });

  it('reads the other spelling, keeps what it does not know, and prefers its own (C-18)', () => {
    const { response_format, ...rest } = WHOLE.REQUEST;
    const later = { ...rest, responseFormat: response_format, processingTime: 3 };
    expect(readPayload('REQUEST', later).payload).toEqual({ ...WHOLE.REQUEST, processingTime: 3 });
    const both = { ...WHOLE.REQUEST, responseFormat: 7 };
    expect(readPayload('REQUEST', both).payload).toEqual(WHOLE.REQUEST);
  });

  it.each([undefined, null, 3, 'text', []])('finds that %j is no payload', (value) => {
    for (const type of PAYLOAD_TYPES) expect(readPayload(type, value).isValid).toBe(false);
  });
});
