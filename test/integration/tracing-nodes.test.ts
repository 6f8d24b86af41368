import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { signingKeyPair, startSystem } from 'orrery';
import { webSocket } from 'orrery/websocket';
import { last, relay } from '../fixtures/agents/traced.ts';
import { spansIn, tracingInto, wayUp, type WrittenSpan } from '../fixtures/spans.ts';
import { agent, until } from '../fixtures/until.ts';

const folder = mkdtempSync(join(tmpdir(), 'orrery-tracing-'));
afterAll(() => rmSync(folder, { recursive: true }));
const file = join(folder, 'spans');
const tracing = tracingInto(file);

/** The spans since `before`, once there are so many. */
const since = (before: number, count: number): Promise<readonly WrittenSpan[]> =>
  until(`${count} spans`, () => {
    const found = spansIn(file).slice(before);
    return found.length >= count && found;
  });

describe('A trace over the borders of a thread (DESIGN 2.1)', () => {
  it('goes on at another node, over a WebSocket', async () => {
    const keys = { rome: signingKeyPair(), oslo: signingKeyPair() };
    const ofRome = {
      transports: [webSocket()],
      identity: { node: 'rome', key: keys.rome },
      trust: [{ key: keys.oslo.publicKey, tier: 2 as const, sandboxId: null }],
    };
    await using rome = await startSystem({ agents: [agent('traced-last')], tracing, peers: ofRome });
    const ofOslo = {
      transports: [webSocket()],
      identity: { node: 'oslo', key: keys.oslo },
      trust: [{ key: keys.rome.publicKey, tier: 2 as const, sandboxId: null }],
      discover: { dial: rome.peers.addresses },
    };
    await using oslo = await startSystem({ tracing, peers: ofOslo });
    await until('it sees what rome has', async () =>
      (await oslo.peers.list()).some(({ agents }) => agents.includes('last')),
    );
    const before = spansIn(file).length;
    const active = await oslo.ask(last, 'go');
    const spans = await since(before, 4);
    const there = spans.find(({ spanId }) => spanId === active) as WrittenSpan;
    expect(wayUp(spans, there)).toBe(
      'handle trace.last < ask trace.last < handle trace.last < ask trace.last',
    );
    expect(new Set(spans.map(({ threadId }) => threadId)).size).toBe(4);
    expect(spans.map(({ attributes }) => attributes['messaging.message.conversation_id'])).toEqual(
      Array(4).fill(there.attributes['messaging.message.conversation_id']),
    );
  });

  it('goes through an agent in a process of its own, which is told where it is in it', async () => {
    const apart = { ...agent('traced-process'), isolation: 'process' as const };
    await using system = await startSystem({ agents: [apart, agent('traced-last')], tracing });
    const before = spansIn(file).length;
    const traceparent = await system.ask({ agent: 'apart', capability: relay }, 'go');
    const spans = await since(before, 4);
    const named = (name: string) => spans.find((span) => span.name === name) as WrittenSpan;
    expect(wayUp(spans, named('handle trace.last'))).toBe(
      'handle trace.last < ask trace.last < handle trace.relay < ask trace.relay',
    );
    const { traceId, spanId } = named('handle trace.relay');
    expect(traceparent).toBe(`00-${traceId}-${spanId}-01`);
  });
});
