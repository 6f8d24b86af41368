import { getEventListeners } from 'node:events';
import { request as httpRequest } from 'node:http';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { OrreryError } from '../../runtime/protocol/errors.ts';
import { systemSeams } from '../../runtime/protocol/system-seams.ts';
import { bound, startA2AServer, type TestServer } from '../fixtures/a2a-server.ts';
import { FakeClock } from '../fixtures/fake-clock.ts';
import { KeptTasks } from '../fixtures/kept-tasks.ts';
import { allEvents, type ReadEvent, sseEvents } from '../fixtures/sse-reader.ts';
import { until } from '../fixtures/until.ts';

const HEADERS = { 'Content-Type': 'application/json', 'A2A-Version': '1.0' };
const BINDINGS = ['JSON-RPC', 'REST'] as const;
type Binding = (typeof BINDINGS)[number];

let count = 0;
const messageOf = (text: string) => ({
  message: { messageId: `m-${++count}`, role: 'ROLE_USER', parts: [{ text }] },
});

/** Opens a stream by either binding. */
function open(
  server: TestServer,
  binding: Binding,
  what: 'stream' | 'subscribe',
  params: { readonly id?: string; readonly message?: object },
  init: RequestInit & { readonly headers?: Record<string, string> } = {},
): Promise<Response> {
  const headers = { ...HEADERS, ...init.headers };
  if (binding === 'JSON-RPC') {
    const method = what === 'stream' ? 'SendStreamingMessage' : 'SubscribeToTask';
    const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method, params });
    return server.fetch('/rpc', { ...init, method: 'POST', headers, body });
  }
  if (what === 'subscribe') return server.fetch(`/tasks/${params.id}:subscribe`, { ...init, headers });
  return server.fetch('/message:stream', { ...init, method: 'POST', headers, body: JSON.stringify(params) });
}

/** What an event says, in the words of either binding. */
const itemOf = ({ data = '' }: ReadEvent): Record<string, Record<string, unknown>> => {
  const said = JSON.parse(data) as Record<string, never>;
  return said['result'] ?? said;
};

const held = async (server: TestServer): Promise<string> => {
  const { result } = await server.rpc('SendMessage', {
    ...messageOf('hold'),
    configuration: { returnImmediately: true },
  });
  return result.task.id as string;
};

describe.each(BINDINGS)('A2A streams over %s', (binding) => {
  it('numbers its events by the changes that they are, and types itself as an event stream', async () => {
    await using server = await startA2AServer();
    const response = await open(server, binding, 'stream', messageOf('chunks 5'));
    expect(response.headers.get('Content-Type')).toBe('text/event-stream');
    expect(response.headers.get('Cache-Control')).toBe('no-cache');
    const events = await allEvents(response);
    const ids = events.map(({ id }) => Number(id));
    expect(ids).toEqual([...ids].sort((one, other) => one - other));
    expect(new Set(ids).size).toBe(ids.length);
    const task = itemOf(events[0] as ReadEvent)['task'];
    const { generation } = server.tasks.get({ principalId: 'anonymous' }, String(task?.['id']));
    expect(ids.at(-1)).toBe(generation);
  });

  it('is resumed by Last-Event-ID wherever it was cut, without gap or repeat, also when the task is over', async () => {
    await using server = await startA2AServer();
    const whole = await allEvents(await open(server, binding, 'stream', messageOf('chunks 12')));
    const id = String(itemOf(whole[0] as ReadEvent)['task']?.['id']);
    await fc.assert(
      fc.asyncProperty(fc.nat(whole.length - 1), async (cut) => {
        const last = whole[cut]?.id ?? '';
        const rest = await open(server, binding, 'subscribe', { id }, { headers: { 'Last-Event-ID': last } });
        expect(await allEvents(rest)).toEqual(whole.slice(cut + 1));
      }),
      { numRuns: 100 },
    );
  });

  it('is resumed while the work goes on: what was missed, then what is new', async () => {
    await using server = await startA2AServer();
    const id = await held(server);
    const first = await open(server, binding, 'subscribe', { id });
    const reader = sseEvents(first);
    let seen: ReadEvent | undefined;
    while (seen?.data === undefined) seen = (await reader.next()).value as ReadEvent;
    await reader.return();
    const resumed = await open(
      server,
      binding,
      'subscribe',
      { id },
      { headers: { 'Last-Event-ID': seen.id ?? '' } },
    );
    await server.workshop.release(id);
    const events = await allEvents(resumed);
    expect(events.map((event) => Object.keys(itemOf(event))[0])).toEqual(['artifactUpdate', 'statusUpdate']);
    expect(Number(events[0]?.id)).toBe(Number(seen.id) + 1);
  });

  it('is resumed from a server that comes after the one that was cut off', async () => {
    const log = new KeptTasks();
    let id = '';
    let seen: ReadEvent | undefined;
    {
      await using server = await startA2AServer({ engine: { log } });
      id = await held(server);
      const reader = sseEvents(await open(server, binding, 'subscribe', { id }));
      while (seen?.data === undefined) seen = (await reader.next()).value as ReadEvent;
      await reader.return();
    }
    await using server = await startA2AServer({ engine: { log } });
    const headers = { 'Last-Event-ID': seen.id ?? '' };
    const events = await allEvents(await open(server, binding, 'subscribe', { id }, { headers }));
    expect(events.map(itemOf)).toMatchObject([{ statusUpdate: { status: { state: 'TASK_STATE_FAILED' } } }]);
    expect(Number(events[0]?.id)).toBe(Number(seen.id) + 1);
  });

  it('refuses a Last-Event-ID that is none, or is of no event yet', async () => {
    await using server = await startA2AServer();
    const id = await held(server);
    for (const last of ['x', '-1', '1e3', '99999']) {
      const response = await open(
        server,
        binding,
        'subscribe',
        { id },
        { headers: { 'Last-Event-ID': last } },
      );
      expect(response.headers.get('Content-Type')).toContain('json');
      expect(await response.text()).toContain('INVALID_PARAMS');
    }
  });

  it('shows by comments that it lives, by the clock that it is given', async () => {
    const clock = new FakeClock();
    await using server = await startA2AServer({ seams: { ...systemSeams(), clock }, heartbeatMs: 5_000 });
    const id = await held(server);
    const events = sseEvents(await open(server, binding, 'subscribe', { id }));
    const next = async () => (await events.next()).value as ReadEvent;
    while ((await next()).data === undefined);
    for (let beat = 0; beat < 3; beat++) {
      const comment = next();
      clock.advance(5_000);
      expect(await comment).toEqual({});
    }
    await events.return();
  });

  it('frees everything when its client has gone', async () => {
    const clock = new FakeClock();
    await using server = await startA2AServer({ seams: { ...systemSeams(), clock } });
    const id = await held(server);
    const listeners = (): number => getEventListeners(server.closing.signal, 'abort').length;
    const timers = clock.pending;
    const before = listeners();
    const gone = Array.from({ length: 20 }, async () => {
      const reader = sseEvents(await open(server, binding, 'subscribe', { id }));
      await reader.next();
      return reader;
    });
    const readers = await Promise.all(gone);
    expect(listeners()).toBe(before + 20);
    for (const reader of readers) await reader.return();
    await until('nothing is held', () => listeners() === before && clock.pending === timers);
    await server.workshop.release(id);
  });

  it('ends when the gateway is to end', async () => {
    await using server = await startA2AServer();
    const id = await held(server);
    const events = allEvents(await open(server, binding, 'subscribe', { id }));
    server.closing.abort();
    expect((await events).map((event) => Object.keys(itemOf(event))[0])).toEqual(['task']);
  });

  it('says in the stream what goes wrong in the middle of it, and closes', async () => {
    const failure = new OrreryError('STORE_FAILED', 'The store /secret failed');
    await using server = await startA2AServer({
      through: (tasks) => ({
        ...bound(tasks),
        // biome-ignore lint/correctness/useYield: it fails before there is anything
        async *changes() {
          throw failure;
        },
      }),
    });
    const id = await held(server);
    const events = await allEvents(await open(server, binding, 'subscribe', { id }));
    expect(events).toHaveLength(2);
    const { data = '', event } = events[1] as ReadEvent;
    expect(data).not.toContain('secret');
    expect(JSON.parse(data)).toMatchObject(
      binding === 'REST' ? { error: { code: 500, status: 'INTERNAL' } } : { id: 1, error: { code: -32_603 } },
    );
    expect(event).toBe(binding === 'REST' ? 'error' : undefined);
    expect(server.faults).toEqual([failure]);
  });

  it('a client that reads slowly does not have the server keep what it has not read', async () => {
    await using server = await startA2AServer();
    const { result } = await server.rpc('SendMessage', messageOf('chunks 3'));
    const id = result.task.id as string;
    // As many changes as no buffer between the two could hold, made as they are taken.
    let taken = 0;
    const text = 'x'.repeat(100_000);
    await using endless = await startA2AServer({
      through: () => ({
        ...bound(server.tasks),
        async *changes() {
          for (let generation = 1; ; generation++) {
            taken = generation;
            const artifact = { artifactId: 'a', parts: [{ text }] };
            yield { kind: 'artifact', generation, atMs: 0, artifact, append: true, lastChunk: false };
          }
        },
      }),
    });
    const headers = { ...HEADERS, 'Last-Event-ID': '0' };
    const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'SubscribeToTask', params: { id } });
    const [path, method] = binding === 'REST' ? [`/tasks/${id}:subscribe`, 'GET'] : ['/rpc', 'POST'];
    const request = httpRequest(`${endless.url}${path}`, { method, headers });
    request.end(binding === 'REST' ? undefined : body);
    await new Promise((resolve) => request.once('response', (response) => resolve(response.pause())));
    await settled(() => taken);
    const unread = taken;
    expect(unread).toBeLessThan(200);
    await settled(() => taken);
    expect(taken).toBe(unread);
    request.destroy();
  });
});

/** Waits until a number has not changed for as long as it takes to go round many times. */
async function settled(value: () => number): Promise<void> {
  for (let still = 0, last = value(); still < 2_000; still = value() === last ? still + 1 : 0) {
    last = value();
    await new Promise((resolve) => setImmediate(resolve));
  }
}
