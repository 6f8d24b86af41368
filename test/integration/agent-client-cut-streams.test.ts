import { describe, expect, it } from 'vitest';
import { RemoteAgentClient } from '../../gateway/a2a/client/remote-agent-client.ts';
import { cardOf, type Incoming, result, ScriptedAgent, stream, taskOf } from '../fixtures/scripted-agent.ts';
import { part, quick, say, update } from '../fixtures/scripted-events.ts';

const status = (taskId: string, state: string) => ({
  statusUpdate: { taskId, contextId: 'c', status: { state: `TASK_STATE_${state}` } },
});

/** The task, the first of its artifact, and no end. */
function breakOff({ response }: Incoming, tell: ReturnType<typeof stream>): void {
  tell({ task: taskOf('t') });
  tell(update('t', part('one ')));
  setImmediate(() => response.destroy());
}

async function textOf(client: RemoteAgentClient): Promise<string> {
  let text = '';
  for await (const event of client.stream(say('go')))
    if (event.kind === 'artifact')
      for (const one of event.artifact.parts) text += 'text' in one ? one.text : '';
  return text;
}

describe('a stream that is cut', () => {
  it('goes on after the last event, where events have ids', async () => {
    await using agent = await ScriptedAgent.listen();
    const resumed: unknown[] = [];
    agent.answer = (call) => {
      const tell = stream(call);
      if (call.method === 'SendStreamingMessage') {
        tell({ task: taskOf('t') }, '1');
        tell(update('t', part('one ')), '2');
        setImmediate(() => call.response.destroy());
        return;
      }
      resumed.push(call.request.headers['last-event-id']);
      // It tells the last one again, and is not believed.
      tell(update('t', part('one ')), '2');
      tell(update('t', part('two'), true), '3');
      tell(status('t', 'COMPLETED'), '4');
      call.response.end();
    };
    using client = new RemoteAgentClient(agent.url, quick);
    expect(await textOf(client)).toBe('one two');
    expect(resumed).toEqual(['2']);
  });

  it('shows what was missed, where the server begins with the task', async () => {
    await using agent = await ScriptedAgent.listen();
    agent.answer = (call) => {
      const tell = stream(call);
      if (call.method === 'SendStreamingMessage') {
        breakOff(call, tell);
        return;
      }
      const parts = [{ text: 'one ' }, { text: 'two ' }];
      tell({ task: taskOf('t', 'WORKING', [{ artifactId: 'r', parts }]) });
      tell(update('t', part('three'), true));
      tell(status('t', 'COMPLETED'));
      call.response.end();
    };
    using client = new RemoteAgentClient(agent.url, quick);
    expect(await textOf(client)).toBe('one two three');
  });

  it('asks how the task is, where the server says nothing of that or nobody can subscribe', async () => {
    for (const canSubscribe of [true, false]) {
      await using agent = await ScriptedAgent.listen();
      agent.answer = (call) => {
        if (call.method === 'GetTask') {
          const parts = [{ text: 'one ' }, { text: 'two ' }, ...(canSubscribe ? [] : [{ text: 'three' }])];
          result(call, taskOf('t', canSubscribe ? 'WORKING' : 'COMPLETED', [{ artifactId: 'r', parts }]));
          return;
        }
        if (call.method === 'SubscribeToTask' && !canSubscribe) {
          const error = { code: -32_004, message: 'the task is over' };
          call.response.end(JSON.stringify({ jsonrpc: '2.0', id: call.id, error }));
          return;
        }
        const tell = stream(call);
        if (call.method === 'SendStreamingMessage') {
          breakOff(call, tell);
          return;
        }
        tell(update('t', part('two '), true));
        tell(update('t', part('three'), true));
        tell(status('t', 'COMPLETED'));
        call.response.end();
      };
      using client = new RemoteAgentClient(agent.url, quick);
      expect(await textOf(client)).toBe('one two three');
    }
  });

  it('is not sent again where it may have arrived, except to who takes a message once', async () => {
    for (const idempotent of [false, true]) {
      await using agent = await ScriptedAgent.listen();
      const delegation = { uri: 'urn:orrery:a2a:ext:delegation:1', params: { node: 'b', idempotent } };
      agent.card = (base) => cardOf(base, { capabilities: { streaming: true, extensions: [delegation] } });
      const ids: unknown[] = [];
      agent.answer = (call) => {
        ids.push((call.params['message'] as { messageId: string }).messageId);
        if (ids.length === 1) call.response.destroy();
        else stream(call)({ task: taskOf('t', 'COMPLETED') });
      };
      using client = new RemoteAgentClient(agent.url, quick);
      const sending = client.send(say('go'));
      if (idempotent) expect(await sending).toMatchObject({ task: { id: 't' } });
      else
        await expect(sending).rejects.toMatchObject({
          code: 'REMOTE_UNREACHABLE',
          details: { mayHaveArrived: true },
        });
      expect(new Set(ids).size).toBe(1);
      expect(ids).toHaveLength(idempotent ? 2 : 1);
    }
  });

  it('is tried again when nobody was there: nothing can have arrived', async () => {
    using client = new RemoteAgentClient('http://127.0.0.1:9', { ...quick, attempts: 3 });
    await expect(client.send(say('go'))).rejects.toMatchObject({
      code: 'REMOTE_UNREACHABLE',
      details: { mayHaveArrived: false },
    });
  });
});
