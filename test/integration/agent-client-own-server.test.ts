import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { RemoteEvent } from '../../runtime/protocol/remote-agent.ts';
import { systemSeams } from '../../runtime/protocol/system-seams.ts';
import { RemoteAgentClient } from '../../gateway/a2a/client/remote-agent-client.ts';
import type { ClientOptions } from '../../gateway/a2a/client/client-options.ts';
import { FaultProxy } from '../fixtures/fault-proxy.ts';
import { RemoteSystem } from '../fixtures/remote-system.ts';

const WAYS = [
  { version: '1.0', binding: 'JSONRPC' },
  { version: '1.0', binding: 'HTTP+JSON' },
  { version: '0.3', binding: 'JSONRPC' },
  { version: '0.3', binding: 'HTTP+JSON' },
] as const;

const call = (tool: string, input: object = {}) => ({
  parts: [{ data: { tool, arguments: input } as never }],
});

const told = (events: readonly RemoteEvent[]): string[] =>
  events
    .flatMap((event) => (event.kind === 'artifact' ? event.artifact.parts : []))
    .flatMap((part) => ('text' in part && part.text !== '' ? [part.text] : []));

const statusOf = (event: RemoteEvent) =>
  event.kind === 'task' ? event.task.status : event.kind === 'status' ? event.status : undefined;

describe('our client of our own server (A-07, A-11, X-25, X-26, X-27)', () => {
  let b: RemoteSystem;
  beforeAll(async () => {
    b = await RemoteSystem.start('b');
  });
  afterAll(() => b[Symbol.asyncDispose]());

  describe.each(WAYS)('$version over $binding', (prefer) => {
    const options: ClientOptions = { prefer, backoffMs: 5, maxBackoffMs: 20 };

    it('speaks every operation', async () => {
      using client = new RemoteAgentClient(`${b.url}/mars`, options);
      const card = await client.card();
      expect(card.interfaces).toContainEqual(expect.objectContaining(prefer));
      const done = await client.send(call('words.count', { text: 'one two' }));
      expect(done).toMatchObject({
        task: { status: { state: 'completed' }, artifacts: [{ parts: [{ data: { words: 2 } }] }] },
      });
      if (done.kind !== 'task') return;
      expect(await client.get(done.task.id)).toMatchObject({
        id: done.task.id,
        status: { state: 'completed' },
      });
      const begun = await client.send(call('words.wait'), { returnImmediately: true });
      if (begun.kind !== 'task') throw new Error('no task');
      const cancelled = b.hears('cancelled');
      // It has begun when it says something.
      for await (const event of client.subscribe(begun.task.id))
        if (statusOf(event)?.message !== undefined) break;
      expect((await client.cancel(begun.task.id)).status.state).toBe('canceled');
      await cancelled;
      await expect(client.cancel(begun.task.id)).rejects.toMatchObject({ code: 'TASK_OVER' });
      await expect(client.get('nobody')).rejects.toMatchObject({ code: 'TASK_NOT_FOUND' });
      if (prefer.version === '1.0') {
        const { tasks } = await client.list({ pageSize: 1, state: 'canceled' });
        expect(tasks).toMatchObject([{ id: begun.task.id }]);
      } else await expect(client.list()).rejects.toMatchObject({ code: 'REMOTE_FAILED' });
    });

    it('takes a stream up again by the ids of its events, without a gap or a repeat', async () => {
      const { clock, random } = systemSeams();
      await using proxy = await FaultProxy.listen({ target: { port: b.port }, clock, random });
      using client = new RemoteAgentClient(`http://127.0.0.1:${proxy.port}/mars`, options);
      const text = Array.from({ length: 30 }, (_, at) => `w${at}`).join(' ');
      const events: RemoteEvent[] = [];
      for await (const event of client.stream(call('words.slowly', { text }))) {
        events.push(event);
        if (told(events).length % 10 === 5 && event.kind === 'artifact') proxy.cut();
      }
      expect(told(events).join(' ')).toBe(text);
      expect(events.at(-1)).toMatchObject({ kind: 'status', status: { state: 'completed' } });
    });
  });

  it('sends credentials, extensions and what signs the body', async () => {
    using client = new RemoteAgentClient(`${b.url}/mars`, {
      credentials: { headers: ({ method, body }) => ({ 'x-seen': `${method} ${body.length}` }) },
      extensions: ['urn:other'],
    });
    expect(await client.send(call('words.count', { text: 'x' }))).toMatchObject({ kind: 'task' });
  });
});
