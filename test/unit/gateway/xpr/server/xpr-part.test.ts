import { Hono } from 'hono';
import { describe, expect, it } from 'vitest';
import { unauthenticated } from '../../../../../runtime/protocol/edge-errors.ts';
import { ANONYMOUS } from '../../../../../runtime/protocol/principal.ts';
import { systemSeams } from '../../../../../runtime/protocol/system-seams.ts';
import { type Body, ReceivedBody } from '../../../../../gateway/http/body.ts';
import type { A2AService } from '../../../../../gateway/a2a/server/a2a-service.ts';
import type { Caller } from '../../../../../gateway/a2a/server/caller.ts';
import type { Edge } from '../../../../../gateway/http/gateway-part.ts';
import { xprPart, type XprPartOptions } from '../../../../../gateway/xpr/server/xpr-part.ts';
import { errorOf, rig } from '../../http/gateway-rig.ts';

const bodyOf = (bytes: Uint8Array): Body =>
  new ReceivedBody([bytes], { large: undefined, counted: (read) => read, turn: async () => undefined });

type Performed = { readonly name: string; readonly input: object; readonly caller: Caller };

/** The binding over a service that a test gives, in an app of its own. */
function setUp(perform: (performed: Performed) => unknown, options: Omit<XprPartOptions, 'service'> = {}) {
  const faults: unknown[] = [];
  const closing = new AbortController();
  const edge: Edge = {
    seams: systemSeams(),
    closing: closing.signal,
    addressOf: () => undefined,
    baseUrl: () => 'http://here',
    read: async (request) => bodyOf(new Uint8Array(await (request as Request).arrayBuffer())),
    admit: async () => ANONYMOUS,
    countRefusals: (admit) => admit,
    fault: (error) => faults.push(error),
  };
  const service = {
    perform: async (name: string, input: object, caller: Caller) => {
      const done = await perform({ name, input, caller });
      return name === 'send' ? { kind: 'task', task: done } : done;
    },
  } as unknown as A2AService;
  const app = new Hono();
  xprPart({ service, ...options }).mount(app, edge);
  const call = async (method: string, params: object) => {
    const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method, params });
    const headers = { 'content-type': 'application/json' };
    const response = await app.request('/a2a', { method: 'POST', headers, body });
    return { status: response.status, body: (await response.json()) as Record<string, unknown> };
  };
  return { call, faults, closing };
}

const task = {
  id: 't',
  contextId: 'c',
  status: { state: 'completed', atMs: 0 },
  artifacts: [],
  history: [],
  generation: 1,
  createdAtMs: 0,
};
const send = { message: { role: 'user', parts: [{ type: 'text', text: 'x' }] } };

describe('The XPR binding of a gateway', () => {
  it('has what it refuses counted as what others refuse, and reads nothing of another media type', async () => {
    const admit = () => Promise.reject(unauthenticated('nobody signed it'));
    const service = {} as A2AService;
    const { ask, gateway } = rig({ parts: [xprPart({ service, admit })], limits: { maxBodyBytes: 1_000 } });
    const post = async (type: string, body: string) => {
      const answer = await ask('/a2a', { method: 'POST', headers: { 'content-type': type }, body });
      return (await errorOf(answer)) as { code: number; data: { reason?: string } };
    };
    const call = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tasks/get', params: { id: 't' } });
    expect((await post('application/json', call)).data).toMatchObject({ reason: 'UNAUTHENTICATED' });
    expect((await post('text/plain', 'x'.repeat(2_000))).code).toBe(-32_602);
    const text = await gateway.metrics.text();
    expect(text).toContain('orrery_gateway_refusals_total{code="UNAUTHENTICATED"} 1');
    expect(text).not.toContain('BODY_TOO_LARGE');
  });

  it('tells its operator of a failure inside, and its caller nothing (X-37)', async () => {
    const broken = new Error('the password is hunter2');
    const { call, faults } = setUp(() => Promise.reject(broken));
    expect(await call('tasks/get', { id: 't' })).toEqual({
      status: 200,
      body: {
        jsonrpc: '2.0',
        id: 1,
        error: {
          code: -32_603,
          message: 'Internal error',
          data: { reason: 'INTERNAL', detail: expect.not.stringContaining('hunter2') },
        },
      },
    });
    expect(faults).toEqual([broken]);
  });

  it('asks for the operations that the methods mean, under the terms of its tool mode (X-24)', async () => {
    const performed: Performed[] = [];
    const perform = (one: Performed) => {
      performed.push(one);
      return task;
    };
    for (const toolMode of ['full', 'readonly'] as const) {
      const { call } = setUp(perform, { toolMode });
      await call('message/send', send);
      await call('tasks/get', { id: 't', historyLength: 3 });
      await call('tasks/cancel', { id: 't' });
    }
    expect(performed.map(({ name }) => name)).toEqual(['send', 'get', 'cancel', 'send', 'get', 'cancel']);
    expect(performed.map(({ caller }) => caller.terms.readOnly)).toEqual([
      false,
      false,
      false,
      true,
      true,
      true,
    ]);
    expect(performed[1]?.input).toEqual({ taskId: 't', historyLength: 3 });
    expect(performed[0]?.caller).toMatchObject({ principal: ANONYMOUS, agentId: undefined, extensions: [] });
  });

  it('lets who waits go when the gateway closes', async () => {
    const begun = Promise.withResolvers<AbortSignal>();
    const { call, closing } = setUp(({ caller: { signal } }) => {
      begun.resolve(signal);
      return new Promise((resolve) => signal.addEventListener('abort', () => resolve(task)));
    });
    const answer = call('message/send', send);
    await begun.promise;
    closing.abort();
    expect((await answer).body).toHaveProperty('result.id', 't');
  });

  it.each([
    [{ toolMode: 'some' as 'full' }, 'xpr.toolMode'],
    [{ mostMessages: 0 }, 'xpr.mostMessages'],
    [{ answerWithinMs: -1 }, 'xpr.answerWithinMs'],
  ])('is not set up with %j', (options, field) => {
    expect(() => setUp(() => task, options)).toThrow(field);
  });
});
