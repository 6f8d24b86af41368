import { capability, defineAgent, refused, signingKeyPair, startSystem, type Team } from 'orrery';
import {
  agentMesh,
  errorOfPayload,
  errorPayloadOf,
  type RequestPayload,
  readPayload,
  statusPayloadOf,
} from 'orrery/agentmesh';
import { webSocket } from 'orrery/websocket';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { rejection } from '../fixtures/until.ts';

const SCHEMA = 'agentmesh/travel/flight-search/v1';
const FLIGHT = { action: 'search', origin: 'VIE', destination: 'LIS', departure_date: '2026-03-01' };
const search = capability({
  id: 'flights.search',
  description: 'Searches',
  input: z.unknown(),
  output: z.unknown(),
});
const left: unknown[] = [];
const declared: (string | undefined)[] = [];
const agency = defineAgent({
  id: 'agency',
  name: 'Agency',
  version: '1.0.0',
  description: 'Travels',
  tier: 2,
})
  .handle(search, (request, ctx) => {
    const { parameters } = request as RequestPayload;
    ctx.progress(0.5, 'half');
    if (parameters['destination'] === 'XXX') throw refused('no seats today', { retryAfterMs: 2_500 });
    return {
      status: 'success',
      results: [{ flight_number: 'OS1', price: 9, currency: 'EUR' }],
      schema: SCHEMA,
    };
  })
  .on('notification', ({ payload, schema }) => {
    if (schema === undefined) left.push(payload);
    else declared.push(schema);
  });

describe('The five payloads of AgentMesh between two nodes (C-35)', () => {
  let rome: Team;
  let oslo: Team;

  beforeAll(async () => {
    const keys = { rome: signingKeyPair(), oslo: signingKeyPair() };
    const common = { spareThread: false, policies: { escalation: 'off' } } as const;
    const mesh = { agentMesh: agentMesh({ directory: false, mode: 'strict' }), transports: [webSocket()] };
    rome = await startSystem({
      ...common,
      agents: [agency],
      peers: {
        ...mesh,
        identity: { node: 'rome', key: keys.rome },
        trust: [{ key: keys.oslo.publicKey, tier: 2, sandboxId: null }],
      },
    });
    oslo = await startSystem({
      ...common,
      agents: [],
      peers: {
        ...mesh,
        identity: { node: 'oslo', key: keys.oslo },
        trust: [{ key: keys.rome.publicKey, tier: 2, sandboxId: null }],
        discover: { dial: rome.peers.addresses },
      },
    });
  });

  afterAll(async () => {
    await Promise.all([oslo, rome].map((team) => team.stop({ drainMs: 0 })));
  });

  const ask = async (parameters: object) => {
    const statuses: unknown[] = [];
    const request = {
      intent: 'travel/flights/search',
      parameters,
      response_format: { type: 'json', schema: SCHEMA },
    };
    const answer = await oslo
      .ask({ agent: 'agency', capability: search }, request, {
        timeoutMs: 30_000,
        onProgress: (progress) => statuses.push(statusPayloadOf(progress, 1_500)),
      })
      .catch((error: unknown) => errorPayloadOf(error, 'other-agency'));
    return { answer, statuses };
  };

  it('are an ask, its progress and its answer: REQUEST, STATUS, RESPONSE (M-22, M-23, M-24)', async () => {
    const { answer, statuses } = await ask(FLIGHT);
    expect(readPayload('RESPONSE', answer)).toMatchObject({ isValid: true, payload: { schema: SCHEMA } });
    expect(statuses).toEqual([
      { status: 'working', progress: 0.5, estimated_completion_seconds: 1.5, message: 'half' },
    ]);
    expect(readPayload('STATUS', statuses[0]).isValid).toBe(true);
  });

  it('are what an ask fails with: ERROR, there and back (M-25)', async () => {
    const { answer } = await ask({ ...FLIGHT, destination: 'XXX' });
    expect(answer).toEqual({
      code: 'REFUSED',
      message: expect.any(String),
      retry_after_seconds: 2.5,
      fallback_amid: 'other-agency',
    });
    const read = readPayload('ERROR', answer);
    expect(errorOfPayload(read.payload as never)).toMatchObject({
      code: 'REFUSED',
      details: { retryAfterMs: 2_500, fallbackAmid: 'other-agency' },
    });
    expect(errorOfPayload({ code: 'sold_out', message: 'none left' })).toMatchObject({
      code: 'REMOTE_FAILED',
      details: { code: 'sold_out' },
    });
    expect((await ask({})).answer).toMatchObject({
      code: 'INVALID_PAYLOAD',
      message: expect.stringContaining(SCHEMA),
    });
  });

  it('declare a schema of their own, told or asked, and are checked by it (M-15, M-17)', async () => {
    const options = { schema: 'agentmesh/travel/flight-search/v1', timeoutMs: 30_000 };
    const flight = { ...FLIGHT, parameters: {} };
    const target = { agent: 'agency', capability: search };
    expect(await rejection(oslo.ask(target, { ...flight, origin: 'Vienna' }, options))).toMatchObject({
      code: 'INVALID_PAYLOAD',
      message: expect.stringContaining('/origin'),
    });
    expect(await oslo.ask(target, flight, options)).toMatchObject({
      status: 'success',
    });
    oslo.tell('agency', { payload: 1 }, { schema: 'x-mycompany/note/v1' });
    await expect.poll(() => declared, { timeout: 30_000 }).toEqual(['x-mycompany/note/v1']);
    expect(() => oslo.tell('agency', 1, { schema: 1 as never })).toThrow(/schema is 1/);
  });

  it('are a notification that ends the session: CLOSE (M-26)', async () => {
    const close = { reason: 'completed', reputation_feedback: { score: 1, tags: [] } };
    await oslo.tellWhenRoom('agency', close);
    await ask(FLIGHT);
    await expect.poll(() => left, { timeout: 30_000 }).toEqual([close]);
    expect(readPayload('CLOSE', left[0]).isValid).toBe(true);
  });
});
