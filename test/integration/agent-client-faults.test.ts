import { describe, expect, it } from 'vitest';
import { RemoteAgentClient } from '../../gateway/a2a/client/remote-agent-client.ts';
import type { ClientOptions } from '../../gateway/a2a/client/client-options.ts';
import { resultOf, runFixture } from '../fixtures/run-fixture.ts';
import { cardOf, type Incoming, result, ScriptedAgent, stream, taskOf } from '../fixtures/scripted-agent.ts';
import { part, quick, say, update } from '../fixtures/scripted-events.ts';

const over = { statusUpdate: { taskId: 't', contextId: 'c', status: { state: 'TASK_STATE_COMPLETED' } } };
const withParts = (state: string, ...texts: string[]) =>
  taskOf('t', state, [{ artifactId: 'r', parts: texts.map((text) => ({ text })) }]);
const isFirst = ({ method }: Incoming): boolean => method === 'SendStreamingMessage';
const cut = ({ response }: Incoming): void => void setImmediate(() => response.destroy());

async function textFrom(answer: ScriptedAgent['answer'], options: ClientOptions = {}): Promise<string> {
  await using agent = await ScriptedAgent.listen();
  agent.answer = answer;
  using client = new RemoteAgentClient(agent.url, { ...quick, ...options });
  let text = '';
  for await (const event of client.stream(say('go'))) {
    const artifacts =
      event.kind === 'artifact' ? [event.artifact] : event.kind === 'task' ? event.task.artifacts : [];
    for (const { parts } of artifacts) for (const one of parts) text += 'text' in one ? one.text : '';
  }
  return text;
}

describe('a process that does nothing but call an agent (A2A)', () => {
  it('lives on while the call waits for its next attempt', async () => {
    expect(await resultOf(runFixture('lone-call', []))).toEqual({ code: 'REMOTE_UNREACHABLE' });
  });
});

describe('the ids of events', () => {
  it('are those of one event each: others have none', async () => {
    const answer = (call: Incoming): void => {
      const tell = stream(call);
      tell({ task: taskOf('t') }, '7');
      tell(update('t', part('one ')));
      tell(update('t', part('two'), true));
      tell(over);
      call.response.end();
    };
    expect(await textFrom(answer)).toBe('one two');
  });

  it('do not say where to go on after an event without one', async () => {
    const resumed: unknown[] = [];
    const answer = (call: Incoming): void => {
      const tell = stream(call);
      if (isFirst(call)) {
        tell({ task: taskOf('t') }, '7');
        tell(update('t', part('one ')));
        return cut(call);
      }
      resumed.push(call.request.headers['last-event-id']);
      tell({ task: withParts('WORKING', 'one ', 'two') });
      tell(over);
      call.response.end();
    };
    expect(await textFrom(answer)).toBe('one two');
    expect(resumed).toEqual([undefined]);
  });

  it('may be larger than numbers can tell apart', async () => {
    const answer = (call: Incoming): void => {
      const tell = stream(call);
      tell({ task: taskOf('t') }, '9007199254740992');
      tell(update('t', part('one ')), '9007199254740993');
      tell(update('t', part('two'), true), '9007199254740994');
      tell(over, '9007199254740995');
      call.response.end();
    };
    expect(await textFrom(answer)).toBe('one two');
  });

  const begun = (call: Incoming): void => {
    const tell = stream(call);
    tell({ task: taskOf('t') }, '11');
    tell(update('t', part('one ')), '12');
    cut(call);
  };

  it('may begin anew after a cut, with the task as it is', async () => {
    const answer = (call: Incoming): void => {
      if (isFirst(call)) return begun(call);
      const tell = stream(call);
      tell({ task: withParts('WORKING', 'one ', 'two ') }, '1');
      tell(update('t', part('three'), true), '2');
      tell(over, '3');
      call.response.end();
    };
    expect(await textFrom(answer)).toBe('one two three');
  });

  it.each([
    ['with something else', { task: undefined }],
    ['with the task as it was', { task: taskOf('t') }],
  ])('may begin anew after a cut, %s: then the task is asked for', async (_, { task }) => {
    const answer = (call: Incoming): void => {
      if (isFirst(call)) return begun(call);
      if (call.method === 'GetTask') return result(call, withParts('COMPLETED', 'one ', 'two'));
      const tell = stream(call);
      tell(task === undefined ? update('t', part('one ')) : { task }, '1');
      tell(update('t', part('two'), true), '2');
    };
    expect(await textFrom(answer)).toBe('one two');
  });
});

describe('what is no call', () => {
  it('is refused before anybody is asked, naming field and value', async () => {
    using client = new RemoteAgentClient('http://127.0.0.1:9', quick);
    const hello = { parts: [{ text: 'hello' }] };
    for (const [call, message] of [
      [() => client.send(undefined as never), 'message is undefined, expected an object'],
      [() => client.send({ parts: [] }), 'message.parts is [], expected at least one part'],
      [() => client.send({ prts: [] } as never), 'message.prts is [], expected no option of this name'],
      [
        () => client.send(hello, { timeotMs: 1 } as never),
        'options.timeotMs is 1, expected no option of this',
      ],
      [() => client.stream(hello, { timeotMs: 1 } as never).next(), 'options.timeotMs is 1'],
      [() => client.cancel('t', null as never), 'options is null, expected an object'],
    ] as const)
      await expect(call()).rejects.toMatchObject({
        code: 'INVALID_OPTIONS',
        message: expect.stringContaining(message),
      });
  });
});

describe('an answer that is hard to read', () => {
  it('has a very long list of parts, which are all taken in', async () => {
    const parts = Array.from({ length: 200_000 }, () => ({ text: 'x' }));
    const answer = (call: Incoming): void => {
      const tell = stream(call);
      tell({ task: taskOf('t') });
      tell(update('t', part('x')));
      tell(update('t', { artifactId: 'r', parts }, true));
      tell(over);
      call.response.end();
    };
    expect(await textFrom(answer)).toHaveLength(200_001);
  });

  const deep = `${'['.repeat(20_000)}${']'.repeat(20_000)}`;
  const task = `{"id":"t","status":{"state":"TASK_STATE_COMPLETED"},"metadata":{"deep":${deep}}}`;

  it.each(['application/json', 'text/event-stream'])(
    'is nested too deeply, as %s: REMOTE_FAILED',
    async (type) => {
      await using agent = await ScriptedAgent.listen();
      agent.answer = ({ response, id }) => {
        const body = `{"jsonrpc":"2.0","id":${JSON.stringify(id)},"result":{"task":${task}}}`;
        response.writeHead(200, { 'content-type': type });
        response.end(type === 'application/json' ? body : `data: ${body}\n\n`);
      };
      using client = new RemoteAgentClient(agent.url, quick);
      const failure = { code: 'REMOTE_FAILED', message: expect.stringContaining('nested deeper than 100') };
      await expect(client.send(say('go'))).rejects.toMatchObject(failure);
    },
  );

  it('is a card that is nested too deeply', async () => {
    await using agent = await ScriptedAgent.listen();
    agent.card = undefined;
    agent.answer = ({ response }) => void response.writeHead(200).end(`{"name":${deep}}`);
    using client = new RemoteAgentClient(agent.url, quick);
    await expect(client.card()).rejects.toMatchObject({ code: 'REMOTE_FAILED' });
  });
});

describe('who wants to be left alone for longer than the client waits', () => {
  it.each([true, false])(
    'is not asked again, and the caller hears for how long (streams: %s)',
    async (streaming) => {
      await using agent = await ScriptedAgent.listen();
      agent.card = (base) => cardOf(base, { capabilities: { streaming } });
      agent.answer = ({ response }) => void response.writeHead(429, { 'retry-after': '3600' }).end('{}');
      using client = new RemoteAgentClient(agent.url, quick);
      const failure = { code: 'RATE_LIMITED', details: { retryAfterMs: 3_600_000 } };
      await expect(client.send(say('go'))).rejects.toMatchObject(failure);
      expect(agent.calls).toHaveLength(2);
    },
  );
});

describe('a call that is cut again and again', () => {
  it('takes in no more than one stream may bring', async () => {
    await using agent = await ScriptedAgent.listen();
    agent.answer = (call) => {
      const tell = stream(call);
      if (isFirst(call)) tell({ task: taskOf('t') }, '0');
      else tell(update('t', part('x'.repeat(20_000)), true), String(agent.calls.length));
      cut(call);
    };
    using client = new RemoteAgentClient(agent.url, { ...quick, maxStreamBytes: 100_000 });
    await expect(client.send(say('go'), { timeoutMs: 20_000 })).rejects.toMatchObject({
      code: 'REMOTE_FAILED',
      details: { maxBytes: 100_000 },
    });
    expect(agent.calls.length).toBeLessThan(10);
  });
});

describe('what may have arrived', () => {
  it.each([true, false])(
    'is said of whatever a later attempt fails with (streams: %s)',
    async (streaming) => {
      for (const refusedAtOnce of [false, true]) {
        await using agent = await ScriptedAgent.listen();
        const ours = { uri: 'urn:orrery:a2a:ext:delegation:1', params: { node: 'b', idempotent: true } };
        agent.card = (base) => cardOf(base, { capabilities: { streaming, extensions: [ours] } });
        let isCut = refusedAtOnce;
        agent.answer = ({ response }) => {
          if (isCut) response.writeHead(401).end('{}');
          else response.destroy();
          isCut = true;
        };
        using client = new RemoteAgentClient(agent.url, quick);
        const error = await client.send(say('go')).catch((thrown: unknown) => thrown);
        expect(error).toMatchObject({ code: 'UNAUTHENTICATED' });
        const { details } = error as { details: Record<string, unknown> };
        expect(details['mayHaveArrived']).toBe(refusedAtOnce ? undefined : true);
      }
    },
  );
});
