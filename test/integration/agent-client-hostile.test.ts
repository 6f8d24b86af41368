import { describe, expect, it } from 'vitest';
import { RemoteAgentClient } from '../../gateway/a2a/client/remote-agent-client.ts';
import { systemSeams } from '../../runtime/protocol/system-seams.ts';
import { FakeClock } from '../fixtures/fake-clock.ts';
import { cardOf, type Incoming, result, ScriptedAgent, stream, taskOf } from '../fixtures/scripted-agent.ts';
import { part, quick, say, update } from '../fixtures/scripted-events.ts';
import { until } from '../fixtures/until.ts';

describe('a server that does not tell the truth (A2A 1.0)', () => {
  const lies: readonly [string, (incoming: Incoming) => void, object][] = [
    [
      'what is no JSON',
      ({ response }) => void response.writeHead(200).end('<html>'),
      { code: 'REMOTE_FAILED' },
    ],
    [
      'what is no JSON-RPC',
      ({ response }) => void response.writeHead(200).end('[]'),
      { code: 'REMOTE_FAILED' },
    ],
    [
      'another one’s answer',
      (call) => result({ ...call, id: 'another' }, { task: taskOf('t', 'COMPLETED') }),
      { code: 'REMOTE_FAILED' },
    ],
    ['a task without a state', (call) => result(call, { task: { id: 't' } }), { code: 'REMOTE_FAILED' }],
    [
      'a state that is none',
      (call) => result(call, { task: taskOf('t', 'DANCING') }),
      { code: 'REMOTE_FAILED' },
    ],
    ['nothing', (call) => result(call, {}), { code: 'REMOTE_FAILED' }],
    [
      'a redirect',
      ({ response }) => void response.writeHead(307, { location: 'http://169.254.169.254/' }).end(),
      { code: 'REMOTE_FAILED', message: expect.stringContaining('redirects (307)') },
    ],
    [
      'more than is taken in',
      ({ response }) => {
        response.writeHead(200, { 'content-type': 'application/json' });
        const more = (): boolean => response.write(' '.repeat(65_536));
        response.on('drain', more);
        more();
      },
      { code: 'REMOTE_FAILED', details: { maxBytes: 100_000 } },
    ],
    [
      'an event without an end',
      ({ response }) => {
        response.writeHead(200, { 'content-type': 'text/event-stream' });
        response.write('data: ');
        const more = (): boolean => response.write('x'.repeat(65_536));
        response.on('drain', more);
        more();
      },
      { code: 'REMOTE_FAILED', details: { maxChars: 100_000 } },
    ],
    [
      'the events of another task',
      (call) => {
        const tell = stream(call);
        tell({ task: taskOf('t') });
        tell(update('u', part('of another')));
      },
      { code: 'REMOTE_FAILED', message: expect.stringContaining('tells of task "u"') },
    ],
  ];

  it.each(lies)('answers %s', async (_, answer, failure) => {
    await using agent = await ScriptedAgent.listen();
    agent.answer = answer;
    using client = new RemoteAgentClient(agent.url, { ...quick, maxAnswerBytes: 100_000, attempts: 2 });
    await expect(client.send(say('go'))).rejects.toMatchObject(failure);
  });

  it('streams without an end: it is read so far and no further', async () => {
    await using agent = await ScriptedAgent.listen();
    agent.answer = (call) => {
      const tell = stream(call);
      tell({ task: taskOf('t') });
      const more = (): void => tell(update('t', part('x'.repeat(10_000)), true));
      call.response.on('drain', more);
      for (let at = 0; at < 50; at += 1) more();
    };
    using client = new RemoteAgentClient(agent.url, { ...quick, maxStreamBytes: 200_000 });
    await expect(client.send(say('go'))).rejects.toMatchObject({
      code: 'REMOTE_FAILED',
      details: { maxBytes: 200_000 },
    });
  });

  it('says nothing: it is given up, and what came before counts', async () => {
    await using agent = await ScriptedAgent.listen();
    agent.answer = () => undefined;
    // By the clock of a machine that is busy elsewhere, nothing might have come of the card either.
    const clock = new FakeClock();
    using client = new RemoteAgentClient(agent.url, { ...quick, idleMs: 40 }, { ...systemSeams(), clock });
    const sent = expect(client.send(say('go'))).rejects;
    await until('it is asked', () => agent.calls.length === 2);
    clock.advance(40);
    await sent.toMatchObject({
      code: 'REMOTE_UNREACHABLE',
      details: { mayHaveArrived: true },
    });
    expect(agent.calls).toEqual(['card', 'SendStreamingMessage']);
  });

  it('works for ever: the deadline ends it', async () => {
    await using agent = await ScriptedAgent.listen();
    agent.answer = (call) => stream(call)({ task: taskOf('t') });
    using client = new RemoteAgentClient(agent.url, quick);
    await expect(client.send(say('go'), { timeoutMs: 50 })).rejects.toMatchObject({
      code: 'DEADLINE_EXCEEDED',
    });
    const stopping = new AbortController();
    const sending = client.send(say('go'), { signal: stopping.signal });
    stopping.abort();
    await expect(sending).rejects.toMatchObject({ code: 'CANCELLED' });
  });

  it('sends its callers elsewhere: nobody goes there, and no credentials do', async () => {
    await using elsewhere = await ScriptedAgent.listen();
    await using agent = await ScriptedAgent.listen();
    agent.card = () => cardOf(elsewhere.url);
    using client = new RemoteAgentClient(agent.url, { ...quick, credentials: { bearer: 'secret' } });
    await expect(client.send(say('go'))).rejects.toMatchObject({
      code: 'INVALID_CARD',
      message: expect.stringContaining(`${elsewhere.url}, which is not among allowedOrigins`),
    });
    expect(elsewhere.calls).toEqual([]);
    elsewhere.answer = (call) => result(call, { task: taskOf('t', 'COMPLETED') });
    using allowed = new RemoteAgentClient(agent.url, { ...quick, allowedOrigins: [elsewhere.url] });
    expect(await allowed.send(say('go'))).toMatchObject({ task: { id: 't' } });
  });
});
