import { describe, expect, it } from 'vitest';
import { systemSeams } from '../../runtime/protocol/system-seams.ts';
import type { RemoteEvent } from '../../runtime/protocol/remote-agent.ts';
import { RemoteAgentClient } from '../../gateway/a2a/client/remote-agent-client.ts';
import { FaultProxy } from '../fixtures/fault-proxy.ts';
import { SdkAgent } from '../fixtures/sdk-agent.ts';

const WAYS = [
  { version: '1.0', binding: 'JSONRPC' },
  { version: '1.0', binding: 'HTTP+JSON' },
  { version: '0.3', binding: 'JSONRPC' },
  { version: '0.3', binding: 'HTTP+JSON' },
] as const;

const say = (text: string) => ({ parts: [{ text }] });
const textOf = (events: readonly RemoteEvent[]): string =>
  events
    .flatMap((event) => (event.kind === 'artifact' ? event.artifact.parts : []))
    .map(plain)
    .join('');
const plain = (part: object): string => ('text' in part ? String(part.text) : '');

describe('a client of an agent of the published SDK (A-01, A-07, A-08, A-11, X-26, X-27)', () => {
  for (const { version, binding } of WAYS) {
    describe(`${version} over ${binding}`, () => {
      const options = { prefer: { version, binding }, backoffMs: 5, maxBackoffMs: 20 };

      for (const streaming of [true, false]) {
        it(`sends and has the finished task, ${streaming ? 'by stream' : 'by asking again'}`, async () => {
          await using agent = await SdkAgent.start({ streaming });
          using client = new RemoteAgentClient(`http://127.0.0.1:${agent.port}`, options);
          const answer = await client.send(say('echo hello there'));
          expect(answer).toMatchObject({ kind: 'task', task: { status: { state: 'completed' } } });
          if (answer.kind !== 'task') return;
          expect(answer.task.artifacts.flatMap(({ parts }) => parts.map(plain))).toEqual(['hello there']);
          const task = await client.get(answer.task.id);
          expect(task).toMatchObject({ id: answer.task.id, status: { state: 'completed' } });
          expect((await agent.did()).executed).toEqual(['echo hello there']);
        });
      }

      it('is answered by a message without a task', async () => {
        await using agent = await SdkAgent.start();
        using client = new RemoteAgentClient(`http://127.0.0.1:${agent.port}`, options);
        const answer = await client.send(say('message good day'));
        expect(answer).toMatchObject({ kind: 'message', message: { parts: [{ text: 'good day' }] } });
      });

      it.each([true, false])('goes on with a task that waits for input (streams: %s)', async (streaming) => {
        await using agent = await SdkAgent.start({ streaming });
        using client = new RemoteAgentClient(`http://127.0.0.1:${agent.port}`, options);
        const asked = await client.send(say('ask'));
        expect(asked).toMatchObject({
          task: { status: { state: 'input-required', message: { parts: [{ text: 'which one?' }] } } },
        });
        if (asked.kind !== 'task') return;
        const { id: taskId, contextId = '' } = asked.task;
        const done = await client.send({ ...say('echo this one'), taskId, contextId });
        expect(done).toMatchObject({ task: { id: taskId, status: { state: 'completed' } } });
      });

      it('cancels a task in mid-work, and cannot cancel what is over', async () => {
        await using agent = await SdkAgent.start();
        using client = new RemoteAgentClient(`http://127.0.0.1:${agent.port}`, options);
        const begun = await client.send(say('forever'), { returnImmediately: true });
        if (begun.kind !== 'task') throw new Error('no task');
        const cancelled = await client.cancel(begun.task.id);
        expect(cancelled.status.state).toBe('canceled');
        expect((await agent.did()).cancelled).toEqual([begun.task.id]);
        const done = await client.send(say('echo done'));
        if (done.kind !== 'task') throw new Error('no task');
        await expect(client.cancel(done.task.id)).rejects.toMatchObject({ code: 'TASK_OVER' });
        await expect(client.get('nobody')).rejects.toMatchObject({ code: 'TASK_NOT_FOUND' });
      });

      it('takes a cut stream up again without a gap or a repeat', async () => {
        await using proxied = await proxiedAgent();
        const { agent, proxy } = proxied;
        using client = new RemoteAgentClient(`http://127.0.0.1:${proxy.port}`, options);
        const events: RemoteEvent[] = [];
        let cuts = 0;
        for await (const event of client.stream(say('chunks 9'))) {
          events.push(event);
          if (event.kind === 'artifact' && cuts < 2) {
            cuts += 1;
            await agent.chunksOut;
            proxy.cut();
          }
          if (cuts === 2) await agent.release();
        }
        expect(textOf(events)).toBe('1 2 3 4 5 6 7 8 9 ');
        expect(events.at(-1)).toMatchObject({ kind: 'status', status: { state: 'completed' } });
        expect(events.filter((event) => event.kind === 'task')).toHaveLength(1);
        expect((await agent.did()).executed).toEqual(['chunks 9']);
      });
    });
  }

  it('lists its tasks, page by page (A2A 1.0)', async () => {
    await using agent = await SdkAgent.start();
    using client = new RemoteAgentClient(`http://127.0.0.1:${agent.port}`);
    for (const n of [1, 2, 3]) await client.send(say(`echo ${n}`));
    const first = await client.list({ pageSize: 2 });
    expect(first.tasks).toHaveLength(2);
    const second = await client.list({ pageSize: 2, pageToken: first.nextPageToken });
    expect(second.tasks).toHaveLength(1);
    const ids = [...first.tasks, ...second.tasks].map(({ id }) => id);
    expect(new Set(ids).size).toBe(3);
  });
});

async function proxiedAgent() {
  const { clock, random } = systemSeams();
  const made = Promise.withResolvers<FaultProxy>();
  const through = async (port: number): Promise<number> => {
    made.resolve(await FaultProxy.listen({ target: { port }, clock, random }));
    return (await made.promise).port;
  };
  const agent = await SdkAgent.start({ through });
  const proxy = await made.promise;
  return {
    agent,
    proxy,
    [Symbol.asyncDispose]: async () => {
      await proxy[Symbol.asyncDispose]();
      await agent[Symbol.asyncDispose]();
    },
  };
}
