import { describe, expect, it } from 'vitest';
import {
  type EnvelopeOf,
  envelopeOfMessage,
  readMeshMessage,
} from '../../../../gateway/agentmesh/message.ts';
import { PayloadSchemas } from '../../../../gateway/agentmesh/payload-schemas.ts';
import { payloadSchemas, type SchemaMode } from '../../../../gateway/agentmesh/schema-policy.ts';
import type { A2AEnvelope } from '../../../../runtime/protocol/envelope.ts';
import type { ReceiveFinding } from '../../../../runtime/protocol/receive-policy.ts';

const PARTIES: EnvelopeOf = { id: 'e1', sender: 'node/mars', recipient: 'venus', tier: 3 };
const schemas = new PayloadSchemas({ directory: false });
schemas.register('x-mycompany/invoice/v1', { type: 'object', required: ['total'] });

function find(
  message: { type?: string; payload: unknown; schema?: string },
  mode?: SchemaMode,
): ReceiveFinding | undefined {
  const wire = { type: 'request', session_id: 's1', sequence: 0, timestamp: 1, ...message };
  const envelope = envelopeOfMessage(readMeshMessage(wire, 0), PARTIES);
  return payloadSchemas(schemas, mode && { mode }).receive({ peer: 'p', envelope });
}

const request = (intent: string, parameters: unknown) => ({
  payload: { intent, parameters, response_format: { type: 'json' } },
});
const ours = (changes: Partial<A2AEnvelope>): ReceiveFinding | undefined =>
  payloadSchemas(schemas).receive({
    peer: 'p',
    envelope: {
      id: 'e',
      schemaVersion: 1,
      sender: 'a',
      recipient: 'b',
      type: 'request',
      timestamp: 1,
      payload: {},
      ...changes,
    },
  });
const FLIGHT = { action: 'search', origin: 'VIE', destination: 'LIS', departure_date: '2026-03-01' };

describe('payloadSchemas', () => {
  it('checks travel/flights/search by agentmesh/travel/flight-search/v1 (M-12)', () => {
    expect(find(request('travel/flights/search', FLIGHT))).toBeUndefined();
    expect(find(request('travel/flights/search', { ...FLIGHT, origin: 'Vienna' }))).toMatchObject({
      action: 'warn',
      details: {
        schemaId: 'agentmesh/travel/flight-search/v1',
        faults: [{ path: '/origin', schemaPath: expect.stringContaining('pattern') }],
      },
    });
  });

  it('checks commerce/products/search by agentmesh/commerce/product-search/v1 (M-13)', () => {
    const intent = 'commerce/products/search';
    expect(find(request(intent, { action: 'search', query: 'lamp' }))).toBeUndefined();
    expect(find(request(intent, { action: 'search' }))).toMatchObject({
      details: { schemaId: 'agentmesh/commerce/product-search/v1' },
    });
  });

  it('checks marketplace/skill-bid by agentmesh/marketplace/skill-bid/v1 (M-14)', () => {
    const intent = 'marketplace/skill-bid';
    expect(find(request(intent, { action: 'bid', task_id: 't', bid_amount: 3 }))).toBeUndefined();
    expect(find(request(intent, { action: 'bid', task_id: 't' }))).toMatchObject({
      details: { schemaId: 'agentmesh/marketplace/skill-bid/v1' },
    });
  });

  it('checks by the schema that is declared (M-15), and lets pass what fits (M-16)', () => {
    const schema = 'x-mycompany/invoice/v1';
    const payload = { intent: 'pay', parameters: { total: 3 }, response_format: { type: 'json' } };
    expect(find({ payload, schema })).toBeUndefined();
    expect(find({ payload: { ...payload, parameters: {} }, schema })?.reason).toContain("'total'");
  });

  it('checks the results of a response by the schema that its payload declares (M-15)', () => {
    const results = [{ flight_number: 'OS1', price: 9, currency: 'EUR' }];
    const payload = { status: 'success', results, schema: 'agentmesh/travel/flight-search/v1' };
    expect(find({ type: 'response', payload })).toBeUndefined();
    const wrong = { ...payload, results: [{ ...results[0], price: 'cheap' }] };
    expect(find({ type: 'response', payload: wrong })).toMatchObject({
      details: { faults: [{ path: '/results/0/price' }] },
    });
  });

  it('warns of what does not fit, and has it handled (M-17, C-13)', () => {
    expect(find(request('travel/flights/search', {}))?.action).toBe('warn');
    expect(find({ type: 'status', payload: {} })).toMatchObject({
      action: 'warn',
      reason: expect.stringContaining('STATUS'),
    });
  });

  it('does not check what declares no schema (M-18)', () => {
    expect(find(request('weather/today', {}))).toBeUndefined();
    expect(ours({ payload: { anything: 1 } })).toBeUndefined();
    expect(ours({ payload: null })).toBeUndefined();
  });

  it('warns of a schema that is not there, also when it is strict (M-19)', () => {
    for (const mode of ['warn', 'strict'] as const)
      expect(find({ ...request('pay', {}), schema: 'x-mycompany/order/v1' }, mode)).toMatchObject({
        action: 'warn',
        reason: expect.stringContaining('there is no schema'),
      });
  });

  it('does nothing in mode silent, and refuses in mode strict (C-13)', () => {
    const wrong = request('travel/flights/search', {});
    expect(find(wrong, 'silent')).toBeUndefined();
    expect(find(wrong, 'strict')).toMatchObject({ action: 'refuse', code: 'INVALID_PAYLOAD' });
    expect(find({ type: 'status', payload: {} }, 'strict')).toMatchObject({ action: 'refuse' });
  });

  it('refuses what could not be checked where it is strict: its sender may have made it so', () => {
    const unchecked = { check: () => ({ outcome: 'unchecked', reason: 'it took too long' }) as const };
    const wire = { type: 'request', session_id: 's1', sequence: 0, timestamp: 1, schema: 'x-a/b/v1' };
    const { payload } = request('pay', {});
    const envelope = envelopeOfMessage(readMeshMessage({ ...wire, payload }, 0), PARTIES);
    for (const [mode, action] of [
      ['warn', 'warn'],
      ['strict', 'refuse'],
    ] as const)
      expect(payloadSchemas(unchecked, { mode }).receive({ peer: 'p', envelope })).toMatchObject({
        action,
        reason: expect.stringContaining('it took too long'),
      });
  });

  it('has an envelope of ours with such an intent declare its schema too (C-13)', () => {
    expect(ours({ payload: request('travel/flights/search', {}).payload })?.action).toBe('warn');
    expect(ours({ payload: { intent: 'travel/flights/search' }, type: 'notification' })).toBeUndefined();
    expect(ours({ payload: { total: 1 }, schema: 'x-mycompany/invoice/v1' })).toBeUndefined();
    expect(ours({ payload: {}, schema: 'x-mycompany/invoice/v1' })?.action).toBe('warn');
  });

  it('knows no schema for an intent that is the name of something else', () => {
    expect(find(request('constructor', {}))).toBeUndefined();
    expect(find(request('__proto__', {}))).toBeUndefined();
  });

  it('refuses a mode that there is not', () => {
    expect(() => payloadSchemas(schemas, { mode: 'loud' as SchemaMode })).toThrow(/^mode is "loud"/);
  });
});
