import fc from 'fast-check';
import { startSystem, type Team } from 'orrery';
import { serve, type Serving } from 'orrery/gateway';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { times } from '../fixtures/effort.ts';
import { modernMeta } from '../fixtures/mcp/raw-mcp.ts';
import { agent } from '../fixtures/until.ts';
import { arbDamaged, arbHostile, arbTorn } from '../property/arbitraries/damage.ts';

const RUNS = times(250, 10_000);

let system: Team;
let serving: Serving;
beforeAll(async () => {
  system = await startSystem({ agents: [agent('greeter')], workers: 1, spareThread: false });
  serving = await serve(system, { anonymous: true });
});
afterAll(() => system.stop({ drainMs: 0 }));

const PART = { data: { tool: 'greeting.make', arguments: { name: 'you' } } };
const MESSAGE = { messageId: 'm', role: 'ROLE_USER', parts: [PART] };
const OLD_MESSAGE = { messageId: 'm', kind: 'message', role: 'user', parts: [{ kind: 'data', ...PART }] };
const PUSH = { taskId: 't', url: 'http://127.0.0.1:9/', id: 'p' };
const A2A: Readonly<Record<string, unknown>> = {
  SendMessage: { message: MESSAGE, configuration: { returnImmediately: true } },
  SendStreamingMessage: { message: MESSAGE },
  GetTask: { id: 't', historyLength: 1 },
  ListTasks: { pageSize: 1, pageToken: '' },
  CancelTask: { id: 't' },
  SubscribeToTask: { id: 't' },
  CreateTaskPushNotificationConfig: PUSH,
  GetTaskPushNotificationConfig: { taskId: 't', id: 'p' },
  ListTaskPushNotificationConfigs: { taskId: 't' },
  DeleteTaskPushNotificationConfig: { taskId: 't', id: 'p' },
  GetExtendedAgentCard: {},
  'message/send': { message: OLD_MESSAGE },
  'message/stream': { message: OLD_MESSAGE },
  'tasks/get': { id: 't' },
  'tasks/cancel': { id: 't' },
  'tasks/resubscribe': { id: 't' },
  'tasks/send': { id: 't', message: { role: 'user', parts: [{ type: 'text', text: 'you' }] } },
  'tasks/sendSubscribe': { id: 't', message: { role: 'user', parts: [{ type: 'text', text: 'you' }] } },
  'tasks/pushNotificationConfig/set': { taskId: 't', pushNotificationConfig: PUSH },
  'agent/getAuthenticatedExtendedCard': {},
};
const meta = { _meta: modernMeta() };
const MCP: Readonly<Record<string, unknown>> = {
  initialize: { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'f', version: '1' } },
  ping: {},
  'server/discover': meta,
  'tools/list': meta,
  'tools/call': { ...meta, name: 'greeter.greeting.make', arguments: { name: 'you' } },
  'resources/list': meta,
  'resources/templates/list': meta,
  'resources/read': { ...meta, uri: 'x://y' },
  'resources/subscribe': { ...meta, uri: 'x://y' },
  'prompts/list': meta,
  'prompts/get': { ...meta, name: 'p', arguments: { a: 'b' } },
  'completion/complete': {
    ...meta,
    ref: { type: 'ref/prompt', name: 'p' },
    argument: { name: 'a', value: 'b' },
  },
  'tasks/get': { ...meta, taskId: 't' },
  'tasks/update': { ...meta, taskId: 't', inputResponses: {} },
  'tasks/cancel': { ...meta, taskId: 't' },
  'subscriptions/listen': { ...meta, notifications: { toolsListChanged: true } },
  'notifications/initialized': {},
  'notifications/cancelled': { requestId: 1, reason: 'x' },
};

const PROTOCOLS = {
  A2A: { methods: A2A, path: '/greeter/rpc', accept: 'application/json' },
  MCP: { methods: MCP, path: '/mcp', accept: 'application/json, text/event-stream' },
} as const;

interface Frame {
  readonly body: string;
  readonly headers: Readonly<Record<string, string>>;
}

const arbHeaders = (methods: Readonly<Record<string, unknown>>): fc.Arbitrary<Record<string, string>> =>
  fc
    .record({
      'a2a-version': fc.constantFrom('', '1.0', '0.3', '0.1', '9.9', 'x'),
      'mcp-protocol-version': fc.constantFrom('', '2026-07-28', '2025-11-25', '2024-11-05', 'x'),
      'mcp-method': fc.constantFrom('', ...Object.keys(methods)),
      'mcp-session-id': fc.constantFrom('', 'x', 'a'.repeat(300)),
    })
    .map((all) => Object.fromEntries(Object.entries(all).filter(([, value]) => value !== '')));

/** Frames of which much is right: what is wrong gets deep into what reads them. */
function arbFrame(methods: Readonly<Record<string, unknown>>): fc.Arbitrary<Frame> {
  const arbCall = fc
    .tuple(fc.constantFrom(...Object.keys(methods)), fc.constantFrom<unknown>(1, 'one', 0, -1, 2 ** 53, ''))
    .map(([method, id]) => ({ jsonrpc: '2.0', id, method, params: methods[method] }));
  const asText = (value: unknown): string => JSON.stringify(value);
  return fc.record({
    headers: arbHeaders(methods),
    body: fc.oneof(
      { arbitrary: arbDamaged(arbCall).map(asText), weight: 6 },
      arbTorn(arbCall.map(asText)),
      arbHostile().map(asText),
      fc.array(arbCall, { maxLength: 3 }).map(asText),
      fc.string({ unit: 'binary' }),
    ),
  });
}

/** What came back: as it came, of a stream the first thing that came of it. */
async function post(path: string, accept: string, { body, headers }: Frame) {
  const response = await fetch(`${serving.url}${path}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', accept, ...headers },
    body,
  });
  const type = response.headers.get('content-type') ?? '';
  if (!type.startsWith('text/event-stream'))
    return { status: response.status, type, text: await response.text() };
  const reader = (response.body as ReadableStream<Uint8Array>).getReader();
  let text = '';
  while (!text.includes('\n\n')) {
    const { done, value } = await reader.read();
    if (done) break;
    text += Buffer.from(value).toString();
  }
  await reader.cancel();
  return { status: response.status, type, text };
}

interface RpcAnswer {
  readonly jsonrpc?: unknown;
  readonly id?: unknown;
  readonly result?: unknown;
  readonly error?: { readonly code: unknown; readonly message: unknown };
  readonly method?: unknown;
}

function expectRpc(answer: RpcAnswer): void {
  expect(answer.jsonrpc).toBe('2.0');
  if (typeof answer.method === 'string') return;
  expect(['string', 'number', 'object']).toContain(typeof answer.id);
  expect('result' in answer).not.toBe('error' in answer);
  if (answer.error === undefined) return;
  expect(Number.isInteger(answer.error.code)).toBe(true);
  expect(answer.error.message).toMatch(/./);
}

/** What JSON-RPC, or HTTP where it is not even that, lets a server say to a client that is wrong. */
function expectSensible({ status, type, text }: { status: number; type: string; text: string }): void {
  expect(status).toBeGreaterThanOrEqual(200);
  expect(status).toBeLessThan(500);
  expect(text).not.toMatch(/\n\s+at .+:\d+:\d+|node:internal|node_modules/);
  if (type.startsWith('text/event-stream')) {
    for (const [, data] of text.matchAll(/^data: ?(.+)$/gm))
      expectRpc(JSON.parse(data as string) as RpcAnswer);
  } else if (text !== '') {
    const answer = JSON.parse(text) as RpcAnswer | RpcAnswer[];
    for (const one of Array.isArray(answer) ? answer : [answer]) expectRpc(one);
  } else expect([202, 204]).toContain(status);
}

describe.each(['A2A', 'MCP'] as const)(
  'whatever is said in %s to a running gateway (X-33, X-34, X-35, X-36)',
  (name) => {
    const { methods, path, accept } = PROTOCOLS[name];

    it('is answered as its protocol says, and the next caller is served', async () => {
      await fc.assert(
        fc.asyncProperty(arbFrame(methods), async (frame) => {
          expectSensible(await post(path, accept, frame));
        }),
        { numRuns: RUNS },
      );
      const [method, params, headers] =
        name === 'A2A'
          ? ['SendMessage', A2A['SendMessage'], { 'a2a-version': '1.0' }]
          : [
              'tools/call',
              MCP['tools/call'],
              {
                'mcp-protocol-version': '2026-07-28',
                'mcp-method': 'tools/call',
                'mcp-name': 'greeter.greeting.make',
              },
            ];
      const good = await post(path, accept, {
        body: JSON.stringify({ jsonrpc: '2.0', id: 'last', method, params }),
        headers: headers as Record<string, string>,
      });
      expect(good.status).toBe(200);
      expect(JSON.parse(good.text.replace(/^(?:.*\n)*data: ?/, ''))).toMatchObject({
        id: 'last',
        result: {},
      });
      expect((await fetch(`${serving.url}/readyz`)).status).toBe(200);
    });
  },
);
