import fc from 'fast-check';
import { systemSeams } from 'orrery';
import { Firewall } from 'orrery/lango';
import { setImmediate as turn } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { BareLango, requestText } from '../fixtures/lango/bare-libp2p.ts';
import { mutated } from '../fixtures/lango/mutated.ts';
import { heard, say } from '../fixtures/lango/bare-peer.ts';
import { type ServedLango, servedLango } from '../fixtures/lango/served-team.ts';
import { until } from '../fixtures/until.ts';

const PROTOCOL = '/lango/a2a/1.0.0';
const MB = 1_048_576;

describe('A running system, and a peer that means no good (L-07)', () => {
  let peer: BareLango;
  let team: ServedLango;
  let token: string;
  beforeEach(async () => {
    peer = await BareLango.start();
    const trust = { [peer.did]: {} };
    const rules = [{ peerDid: peer.did, action: 'allow' as const, tools: ['peddler.*', 'agent_card'] }];
    const firewall = new Firewall({ rules, requestsPerMinute: 100_000 }, systemSeams());
    team = await servedLango({ trust, firewall, limits: { readMs: 2_000 } });
    token = await peer.token(team.address);
  });
  afterEach(async () => {
    await peer[Symbol.asyncDispose]();
    await team[Symbol.asyncDispose]();
  });
  const isServedStill = async (): Promise<void> => {
    const newToken = await peer.token(team.address);
    const { status } = await peer.invoke(team.address, newToken, 'peddler.search', { query: 'x' });
    expect(status).toBe('ok');
    await until('all streams are over', () => team.serving.openStreams === 0);
    expect(await team.system.conservation()).toMatchObject({ inFlight: 0, holds: true });
  };

  it('cuts a request that goes on for 1 GB, and holds no more than its cap of it', async () => {
    const before = process.memoryUsage().arrayBuffers;
    const stream = await peer.open(team.address, PROTOCOL);
    say(stream, `{"type":"tool_invoke","sessionToken":"${token}","payload":{"params":{"query":"`);
    const part = Buffer.alloc(65_536, 'x');
    let sent = 0;
    let most = 0;
    for (; sent < 1_024 * MB && stream.status === 'open'; sent += part.length) {
      // What waits for a stream that is reset rejects. The other side is in this thread, and has to have its turn.
      if (!stream.send(part)) await stream.onDrain().catch(() => undefined);
      await turn();
      most = Math.max(most, process.memoryUsage().arrayBuffers - before);
    }
    expect(sent).toBeLessThan(64 * MB);
    expect(most).toBeLessThan(64 * MB);
    await isServedStill();
  });

  it('resets a stream that gives a byte now and then, when its time is over', async () => {
    const stream = await peer.open(team.address, PROTOCOL);
    const text = requestText('agent_card', token);
    let at = 0;
    const drip = setInterval(() => {
      if (stream.status === 'open') stream.send(Buffer.from(text[at++] ?? ' '));
    }, 100);
    try {
      await until('it is reset', () => stream.status !== 'open');
    } finally {
      clearInterval(drip);
    }
    expect(at).toBeLessThan(text.length);
    await isServedStill();
  });

  it('serves so many streams of one peer at once, and resets the others', async () => {
    const streams = await Promise.all(Array.from({ length: 24 }, () => peer.open(team.address, PROTOCOL)));
    await until('some are served', () => team.serving.openStreams === 16);
    await until('the others are reset', () => streams.filter(({ status }) => status === 'open').length <= 16);
    for (const stream of streams) stream.abort(new Error('enough'));
    await isServedStill();
  });

  it('ends what is done for a peer that goes away', async () => {
    const stream = await peer.open(team.address, PROTOCOL);
    say(stream, requestText('tool_invoke', token, { toolName: 'peddler.wait', params: {} }));
    const waits = async () => (await peer.invoke(team.address, token, 'peddler.waits')).result;
    await until('it waits', async () => ((await waits()) as { begun: number }).begun === 1);
    stream.abort(new Error('gone'));
    await until('it waits no more', async () => ((await waits()) as { cancelled: number }).cancelled === 1);
    await isServedStill();
  });

  it('charges a peer with the deaths that it causes, and serves it elsewhere no worse', async () => {
    const { status, error } = await peer.invoke(team.address, token, 'peddler.loop');
    expect([status, error]).toEqual([
      'error',
      expect.stringContaining('The agent died while it worked at this'),
    ]);
    await until('it is served again', async () => {
      const answer = await peer.invoke(team.address, token, 'peddler.search', { query: 'x' });
      return answer.status === 'ok';
    });
    await isServedStill();
  });

  it('answers or resets 5,000 requests that were changed on their way, and nothing is left over', async () => {
    const text = requestText('tool_invoke', token, { toolName: 'peddler.search', params: { query: 'x' } });
    let answered = 0;
    const isAnswered = async (bytes: Uint8Array): Promise<void> => {
      const stream = await peer.open(team.address, PROTOCOL);
      stream.send(bytes);
      await stream.close();
      const answer = await heard(stream).catch(() => '');
      if (answer === '') return;
      answered += 1;
      expect(answer).toMatch(/^\{.*"status":"(ok|error|denied)".*\}\n$/);
    };
    await fc.assert(
      fc.asyncProperty(fc.array(mutated(text), { minLength: 10, maxLength: 10 }), async (messages) => {
        await Promise.all(messages.map(isAnswered));
      }),
      { numRuns: 500, endOnFailure: true },
    );
    expect(answered).toBeGreaterThan(1_000);
    await isServedStill();
  });
});
