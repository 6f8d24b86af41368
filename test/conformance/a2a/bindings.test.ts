import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { startA2AServer, type TestServer } from '../../fixtures/a2a-server.ts';
import { allEvents } from '../../fixtures/sse-reader.ts';

const HEADERS = { 'Content-Type': 'application/json', 'A2A-Version': '1.0' };

type Answer =
  | { readonly result: unknown }
  | { readonly error: { readonly message: string; readonly info: unknown } }
  | { readonly events: readonly unknown[] };

/** One thing to ask for, over either binding. */
interface Asked {
  readonly method: string;
  readonly params: Readonly<Record<string, unknown>>;
  readonly by: string | undefined;
}

const REST: Readonly<Record<string, (params: Asked['params']) => [method: string, path: string]>> = {
  SendMessage: () => ['POST', '/message:send'],
  SendStreamingMessage: () => ['POST', '/message:stream'],
  GetTask: ({ id, historyLength }) => ['GET', `/tasks/${id}?historyLength=${historyLength ?? ''}`],
  ListTasks: (params) => ['GET', `/tasks?${new URLSearchParams(params as Record<string, string>)}`],
  CancelTask: ({ id }) => ['POST', `/tasks/${id}:cancel`],
  SubscribeToTask: ({ id }) => ['GET', `/tasks/${id}:subscribe`],
  GetExtendedAgentCard: () => ['GET', '/extendedAgentCard'],
  ListTaskPushNotificationConfigs: ({ taskId }) => ['GET', `/tasks/${taskId}/pushNotificationConfigs`],
};

async function overRpc(server: TestServer, { method, params, by }: Asked): Promise<Answer> {
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method, params });
  const response = await server.fetch('/rpc', { method: 'POST', headers: HEADERS, body }, by);
  if (isStream(response)) {
    const events = await allEvents(response);
    return { events: events.map(({ id, data = '' }) => [id, JSON.parse(data).result]) };
  }
  const { result, error } = (await response.json()) as Said;
  return error === undefined ? { result } : { error: { message: error.message, info: error.data } };
}

async function overRest(server: TestServer, { method, params, by }: Asked): Promise<Answer> {
  const [verb, path] = REST[method]?.(params) ?? ['', ''];
  const { tenant, ...rest } = params;
  const prefix = tenant === undefined ? '' : `/${tenant}`;
  const init = verb === 'GET' ? {} : { body: JSON.stringify(rest) };
  const response = await server.fetch(
    `${prefix}${path.replace('historyLength=&', '').replace(/\?historyLength=$/, '')}`,
    { method: verb, headers: HEADERS, ...init },
    by,
  );
  if (isStream(response)) {
    const events = await allEvents(response);
    return { events: events.map(({ id, data = '' }) => [id, JSON.parse(data)]) };
  }
  const said = (await response.json()) as Said;
  return response.ok
    ? { result: said }
    : { error: { message: said.error?.message ?? '', info: said.error?.details } };
}

/** What either binding answers. */
interface Said {
  readonly result?: unknown;
  readonly error?: { readonly message: string; readonly data?: unknown; readonly details?: unknown };
}

const isStream = (response: Response): boolean =>
  response.headers.get('Content-Type')?.startsWith('text/event-stream') ?? false;

/** The same without what differs from one task to the next. */
const alike = (answer: Answer, tasks: readonly string[]): unknown =>
  JSON.parse(
    tasks
      .reduce((text, id) => text.replaceAll(id, 'TASK'), JSON.stringify(answer))
      .replaceAll(/"contextId":"[^"]*"/g, '"contextId":"C"')
      .replaceAll(/"messageId":"[^"]*"/g, '"messageId":"M"')
      .replaceAll(/"artifactId":"[^"]*"/g, '"artifactId":"A"')
      .replaceAll(/"timestamp":"[^"]*"/g, '"timestamp":"T"'),
  );

const TEXTS = ['echo x', 'ask', 'reject', 'crash', 'chunks 3', ''];
const owner = fc.constantFrom('alice', 'bob@acme', undefined);
const tenant = fc.constantFrom(undefined, 'mars', 'venus', 'pluto');
/** `task`: one that was made before, by its number. */
const arbAsked = fc.oneof(
  fc.record({
    method: fc.constantFrom('SendMessage'),
    text: fc.constantFrom(...TEXTS),
    task: fc.option(fc.nat(3)),
    modes: fc.constantFrom([], ['image/png'], ['*/*']),
    historyLength: fc.constantFrom(undefined, 0, 1, -1),
    tenant,
    by: owner,
  }),
  fc.record({
    method: fc.constantFrom('GetTask', 'CancelTask', 'ListTaskPushNotificationConfigs'),
    task: fc.option(fc.nat(3)),
    historyLength: fc.constantFrom(undefined, 0, 1),
    tenant,
    by: owner,
  }),
  fc.record({ method: fc.constantFrom('GetExtendedAgentCard'), tenant, by: owner }),
  fc.record({
    method: fc.constantFrom('ListTasks'),
    pageSize: fc.constantFrom(1, 50, 100, 0, 101),
    status: fc.constantFrom(undefined, 'TASK_STATE_COMPLETED', 'DONE'),
    tenant,
    by: owner,
  }),
);

let count = 0;

/** What is asked, of one of two servers that have been asked the same all along. */
function askedOf(step: Record<string, unknown>, tasks: readonly string[]): Asked {
  const { method, text, task, modes, by, tenant: agent, historyLength, ...rest } = step;
  const id = typeof task === 'number' ? (tasks[task] ?? 'none') : 'none';
  const facts = Object.fromEntries(
    Object.entries({ ...rest, tenant: agent }).filter(([, value]) => value !== undefined),
  );
  const length = historyLength === undefined ? {} : { historyLength };
  const params =
    method === 'SendMessage'
      ? {
          ...facts,
          message: {
            messageId: `m-${++count}`,
            role: 'ROLE_USER',
            parts: text === '' ? [] : [{ text }],
            ...(task === null ? {} : { taskId: id }),
          },
          configuration: { acceptedOutputModes: modes, ...length },
        }
      : method === 'ListTaskPushNotificationConfigs'
        ? { ...facts, taskId: id }
        : method === 'GetTask'
          ? { ...facts, id, ...length }
          : method === 'CancelTask'
            ? { ...facts, id }
            : facts;
  return { method: String(method), params, by: by as string | undefined };
}

describe('the bindings of A2A 1.0', () => {
  it('whatever is asked for is answered alike over JSON-RPC and over HTTP+JSON', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(arbAsked, { minLength: 1, maxLength: 8 }), async (steps) => {
        const cards = { securitySchemes: { token: { type: 'http', scheme: 'bearer' } } } as const;
        await using one = await startA2AServer({ cards });
        await using other = await startA2AServer({ cards });
        const made: [string[], string[]] = [[], []];
        for (const step of steps) {
          const said = await overRpc(one, askedOf(step, made[0]));
          const saidToo = await overRest(other, askedOf(step, made[1]));
          for (const [at, answer] of [said, saidToo].entries()) {
            const id = (answer as { result?: { task?: { id: string } } }).result?.task?.id;
            if (id !== undefined && !made[at]?.includes(id)) made[at]?.push(id);
          }
          const urls = (text: Answer, { url }: TestServer): Answer =>
            JSON.parse(JSON.stringify(text).replaceAll(url, 'URL')) as Answer;
          expect(alike(urls(saidToo, other), made[1])).toEqual(alike(urls(said, one), made[0]));
        }
      }),
      { numRuns: 100 },
    );
  });

  it('a task that was begun over one binding is the same over the other', async () => {
    await using server = await startA2AServer();
    const message = { messageId: 'once', role: 'ROLE_USER', parts: [{ text: 'chunks 4' }] };
    const first = await overRpc(server, { method: 'SendMessage', params: { message }, by: undefined });
    // The same message, so the same task, over the other one.
    const again = await overRest(server, { method: 'SendMessage', params: { message }, by: undefined });
    expect(again).toEqual(first);
    const { id } = (first as { result: { task: { id: string } } }).result.task;
    for (const method of ['GetTask', 'CancelTask', 'SubscribeToTask', 'ListTasks']) {
      const asked = { method, params: method === 'ListTasks' ? {} : { id }, by: undefined };
      expect(await overRest(server, asked)).toEqual(await overRpc(server, asked));
    }
  });
});
