import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, describe, expect, it } from 'vitest';
import { startSystem, type StartOptions, type Team } from 'orrery';
import { answer } from 'orrery/models';
import { broken, last, relay } from '../fixtures/agents/traced.ts';
import { startModelServer } from '../fixtures/model-server.ts';
import { spansIn, tracingInto, wayUp, type WrittenSpan } from '../fixtures/spans.ts';
import { agent, rejection, until } from '../fixtures/until.ts';

const folder = mkdtempSync(join(tmpdir(), 'orrery-tracing-'));
const started: Team[] = [];
/** One for all: a thread has one provider. */
const file = join(folder, 'spans');
afterEach(async () => {
  for (const system of started.splice(0)) await system.stop({ drainMs: 0 });
});
afterAll(() => rmSync(folder, { recursive: true }));

/** `spans`: what has ended since, once it is so many. */
async function team(options: Partial<StartOptions> = {}) {
  const before = spansIn(file).length;
  const agents = [agent('traced-relay'), agent('traced-last')];
  const system = await startSystem({ agents, spareThread: false, tracing: tracingInto(file), ...options });
  started.push(system);
  const spans = (count: number): Promise<readonly WrittenSpan[]> =>
    until(`${count} spans have ended`, () => {
      const found = spansIn(file).slice(before);
      return found.length >= count && found;
    });
  return { system, spans };
}

const [SERVER, CLIENT, PRODUCER, CONSUMER] = [1, 2, 3, 4];

describe('The spans of a system across threads (DESIGN 2.1)', () => {
  it('are one trace, from the embedder over one worker to the other, with what agents trace themselves', async () => {
    const { system, spans: ended } = await team();
    const active = await system.ask({ agent: 'relay', capability: relay }, 'go', { correlationId: 'talk-1' });
    const spans = await ended(7);
    const ways = spans.map((span) => wayUp(spans, span)).sort();
    expect(ways).toEqual(
      [
        'ask trace.relay',
        'handle trace.relay < ask trace.relay',
        'own work < handle trace.relay < ask trace.relay',
        'ask trace.last < own work < handle trace.relay < ask trace.relay',
        'handle trace.last < ask trace.last < own work < handle trace.relay < ask trace.relay',
        'tell notification < handle trace.relay < ask trace.relay',
        'handle notification < tell notification < handle trace.relay < ask trace.relay',
      ].sort(),
    );
    const named = (name: string) => spans.find((span) => span.name === name);
    expect(named('handle trace.last')?.spanId).toBe(active);
    expect(new Set(spans.map(({ threadId }) => threadId)).size).toBe(3);
    expect([named('ask trace.relay')?.kind, named('handle trace.last')?.kind]).toEqual([CLIENT, SERVER]);
    expect([named('tell notification')?.kind, named('handle notification')?.kind]).toEqual([
      PRODUCER,
      CONSUMER,
    ]);
    expect(named('handle trace.last')?.attributes).toMatchObject({
      'messaging.system': 'orrery',
      'messaging.operation.type': 'process',
      'messaging.destination.name': 'last',
      'messaging.message.conversation_id': 'talk-1',
      'orrery.sender': 'relay',
      'orrery.capability': 'trace.last',
      'orrery.attempt': 1,
    });
    expect(JSON.stringify(spans)).not.toContain('and that');
  });

  it('say with which code work failed, and nothing of what it said', async () => {
    const { system, spans: ended } = await team();
    expect((await rejection(system.ask({ agent: 'last', capability: last }, 'refuse it'))).code).toBe(
      'REFUSED',
    );
    expect((await rejection(system.ask({ agent: 'nobody', capability: last }, 'go'))).code).toBe(
      'AGENT_NOT_FOUND',
    );
    const spans = await ended(3);
    const failed = spans.map(({ name, status, attributes }) => [name, status.code, attributes['error.type']]);
    expect(failed.sort()).toEqual([
      ['ask trace.last', 2, 'AGENT_NOT_FOUND'],
      ['ask trace.last', 2, 'REFUSED'],
      ['handle trace.last', 2, 'REFUSED'],
    ]);
    expect(JSON.stringify(spans)).not.toContain('a secret');
  });

  it('are one for each attempt, side by side', async () => {
    const { system, spans: ended } = await team();
    expect((await rejection(system.ask({ agent: 'last', capability: broken }, 'go'))).code).toBe('POISON');
    const spans = await ended(4);
    const attempts = spans.filter(({ name }) => name === 'handle trace.broken');
    expect(attempts.map(({ attributes }) => attributes['orrery.attempt'])).toEqual([1, 2, 3]);
    expect(new Set(attempts.map(({ parent }) => parent)).size).toBe(1);
    expect(attempts.every(({ attributes }) => attributes['error.type'] === 'HANDLER_FAILED')).toBe(true);
  });

  it('carry on the trace of an envelope that was made elsewhere, as W3C writes it', async () => {
    const { system, spans: ended } = await team();
    const traceId = '0af7651916cd43dd8448eb211c80319c';
    const made = (id: string, traceparent: string) => ({
      ...{ id, schemaVersion: 1, sender: 'relay', recipient: 'last', type: 'notification' as const },
      ...{ timestamp: 5, payload: 'x' },
      metadata: { tier: 2 as const, traceparent, tracestate: 'shop=t61' },
    });
    await system.send(made('made-1', `00-${traceId}-b7ad6b7169203331-01`));
    await system.send(made('made-2', `00-${traceId}-b7ad6b7169203331-01-more`));
    const spans = await ended(4);
    const [known, none] = ['made-1', 'made-2'].map((id) =>
      spans.find((span) => span.attributes['messaging.message.id'] === id && span.name.startsWith('tell')),
    );
    expect(known).toMatchObject({ traceId, parent: 'b7ad6b7169203331', state: 'shop=t61' });
    expect(none?.traceId).not.toBe(traceId);
    expect(none?.parent).toBeUndefined();
  });

  it('are of calls of models too, with what they took, and of the tools that these call', async () => {
    await using server = await startModelServer([
      { calls: [{ name: 'words__words_count', args: '{"text":"a b"}' }] },
      { text: 'two' },
    ]);
    process.env['TEST_MODEL_URL'] = server.url;
    const { system, spans: ended } = await team({ agents: [agent('thinker'), agent('words')] });
    expect(await system.ask({ agent: 'thinker', capability: answer }, { prompt: 'how many?' })).toBe('two');
    const spans = await ended(6);
    const calls = spans.filter(({ name }) => name === 'chat stub');
    expect(calls.map((span) => wayUp(spans, span))).toEqual(
      Array(2).fill('chat stub < handle answer < ask answer'),
    );
    expect(calls[0]?.attributes).toMatchObject({ 'gen_ai.request.model': 'stub', 'orrery.attempt': 1 });
    const [tool] = spans.filter(({ name }) => name === 'handle words.count');
    expect(tool && wayUp(spans, tool)).toBe(
      'handle words.count < ask words.count < handle answer < ask answer',
    );
    expect(JSON.stringify(spans)).not.toContain('how many');
  });

  it('are exported before the threads of a system that stops end', async () => {
    const batched = join(folder, 'batched');
    const tracing = new URL(`${tracingInto(batched).href}&batched`);
    const { system } = await team({ tracing });
    await system.ask({ agent: 'relay', capability: relay }, 'go');
    await system.stop();
    expect(spansIn(batched).map(({ name }) => name)).toEqual(
      expect.arrayContaining(['handle trace.relay', 'own work', 'handle trace.last']),
    );
  });

  it('are those of the embedder alone where it alone has registered a provider, and the trace goes on', async () => {
    const { system, spans: ended } = await team({ tracing: undefined as never });
    await system.ask({ agent: 'relay', capability: relay }, 'go', { correlationId: 'talk-2' });
    const [span, ...others] = await ended(1);
    expect([span?.name, others]).toEqual(['ask trace.relay', []]);
    const envelopes = (await system.thread('talk-2')).filter(({ type }) => type === 'request');
    expect(envelopes.map(({ recipient }) => recipient)).toEqual(['relay', 'last']);
    for (const { metadata } of envelopes)
      expect(metadata?.['traceparent']).toBe(`00-${span?.traceId}-${span?.spanId}-01`);
  });

  it('are none, and no envelope carries any, where nobody traces', async () => {
    const { system, spans: ended } = await team({ tracing: false });
    expect(await system.ask({ agent: 'relay', capability: relay }, 'go', { correlationId: 'talk' })).toBe(
      'none',
    );
    expect(await ended(0)).toEqual([]);
    for (const { metadata } of await system.thread('talk'))
      expect(metadata).not.toHaveProperty('traceparent');
  });

  it('need a module that can be loaded', async () => {
    expect(await rejection(startSystem({ tracing: new URL('file:///no/tracing.js') }))).toMatchObject({
      code: 'INVALID_OPTIONS',
      message: expect.stringContaining('tracing') as string,
    });
    expect(await rejection(startSystem({ tracing: true as never }))).toMatchObject({
      code: 'INVALID_OPTIONS',
    });
  });
});
