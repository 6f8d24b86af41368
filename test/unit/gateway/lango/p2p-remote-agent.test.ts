import { describe, expect, it, vi } from 'vitest';
import { AttestationVerifier, schnorrAttestation } from '../../../../gateway/lango/attest/attestation.ts';
import {
  P2PRemoteAgent,
  type P2PRemoteAgentOptions,
} from '../../../../gateway/lango/client/p2p-remote-agent.ts';
import type { OpenStream } from '../../../../gateway/lango/wire/byte-stream.ts';
import { OrreryError } from '../../../../runtime/protocol/errors.ts';
import { FakeClock } from '../../../fixtures/fake-clock.ts';
import { heard, say } from '../../../fixtures/lango/bare-peer.ts';
import {
  type HouseOptions,
  langoHouse,
  secretsInOrder,
  someone,
} from '../../../fixtures/lango/lango-house.ts';
import { type MemoryStream, streamPair } from '../../../fixtures/lango/stream-pair.ts';

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;
const OF_HOUSE = { id: 'house', name: 'HOUSE', did: 'did:example:house', peerId: 'peer-house' };

/** An agent whose peer does what `peer` does with each stream. */
function agentOf(
  peer: (stream: MemoryStream, count: number) => unknown,
  options: Partial<P2PRemoteAgentOptions> = {},
) {
  const clock = new FakeClock();
  const debug = vi.fn();
  const streams: MemoryStream[] = [];
  const open = vi.fn<OpenStream>(async () => {
    const [ours, theirs] = streamPair();
    streams.push(ours);
    void peer(theirs, streams.length);
    return ours;
  });
  const agent = new P2PRemoteAgent(
    { ...OF_HOUSE, sessionToken: 'abc', open, ...options },
    { clock, newSecret: secretsInOrder(), debug },
  );
  return { agent, clock, debug, streams, open };
}

/** A bare peer that answers with these fields, and the id of the request if they have none. */
const answering = (fields: Record<string, unknown>) => async (stream: MemoryStream) => {
  const { requestId } = JSON.parse(await heard(stream));
  say(
    stream,
    `${JSON.stringify({ requestId, status: 'ok', timestamp: '2026-01-02T03:04:05Z', ...fields })}\n`,
  );
  await stream.close();
};

describe('An agent of a peer (L-08, L-09, L-19, L-20)', () => {
  it('asks over a new stream for each request (L-08, L-19), of the protocol (L-07), in the words of the wire', async () => {
    const requests: string[] = [];
    const { agent, open, streams } = agentOf(async (stream) => {
      const text = await heard(stream);
      requests.push(text);
      say(
        stream,
        `{"requestId":"${JSON.parse(text).requestId}","status":"ok","result":{"n":${requests.length}},"timestamp":"2026-01-02T03:04:05Z"}`,
      );
      await stream.close();
    });
    expect(await agent.invokeTool('search', { q: 'a<b' })).toEqual({ n: 1 });
    expect(await agent.queryCapabilities()).toEqual({ n: 2 });
    expect(await agent.fetchAgentCard()).toEqual({ n: 3 });
    expect(open.mock.calls.map(([peerId, protocol]) => [peerId, protocol])).toEqual(
      Array(3).fill(['peer-house', '/lango/a2a/1.0.0']),
    );
    const ids = requests.map((text) => JSON.parse(text).requestId as string);
    expect(new Set(ids).size).toBe(3);
    for (const id of ids) expect(id).toMatch(UUID);
    expect(requests).toEqual([
      `{"type":"tool_invoke","sessionToken":"abc","requestId":"${ids[0]}","payload":{"params":{"q":"a\\u003cb"},"toolName":"search"}}\n`,
      `{"type":"capability_query","sessionToken":"abc","requestId":"${ids[1]}"}\n`,
      `{"type":"agent_card","sessionToken":"abc","requestId":"${ids[2]}"}\n`,
    ]);
    for (const stream of streams) expect([stream.isClosed, stream.abortedWith]).toEqual([true, undefined]);
  });

  it('has the names that it was given', () => {
    const { agent } = agentOf(() => undefined, { capabilities: ['search'] });
    expect([agent.id, agent.name, agent.did, agent.peerId, agent.capabilities]).toEqual([
      'house',
      'HOUSE',
      'did:example:house',
      'peer-house',
      ['search'],
    ]);
  });

  it('fails with "open stream to" if there is no stream to be had (L-09)', async () => {
    const { agent } = agentOf(() => undefined, {
      open: () => Promise.reject(new Error('no route')),
    });
    await expect(agent.invokeTool('search', {})).rejects.toMatchObject({
      code: 'REMOTE_UNREACHABLE',
      message: 'open stream to peer-house: no route',
      details: { mayHaveArrived: false },
      cause: expect.objectContaining({ message: 'no route' }),
    });
  });

  it.each(['error', 'denied'])('fails with the words of an answer that is %s (L-20)', async (status) => {
    const { agent } = agentOf(answering({ status, error: 'tool not found' }));
    for (const request of [agent.invokeTool('search', {}), agent.queryCapabilities(), agent.fetchAgentCard()])
      await expect(request).rejects.toMatchObject({
        code: 'REMOTE_FAILED',
        message: expect.stringContaining('tool not found'),
        details: { status },
      });
  });

  it('takes an error without an id for one that could not read the request', async () => {
    const { agent } = agentOf(answering({ requestId: '', status: 'error', error: 'invalid request' }));
    await expect(agent.invokeTool('search', {})).rejects.toThrow('invalid request');
  });

  it.each([
    ['of another id', { requestId: '5f0c8c3e-8d3b-4f6e-9b0a-1c2d3e4f5a6b' }, 'to another request'],
    ['without an id', { requestId: '' }, 'to another request'],
    ['of no status', { status: 'fine' }, 'status'],
    ['that is no map', { result: [1] }, 'result'],
  ])('takes no answer %s', async (_, fields, told) => {
    const { agent, streams } = agentOf(answering(fields));
    await expect(agent.invokeTool('search', {})).rejects.toMatchObject({
      code: 'REMOTE_FAILED',
      message: expect.stringContaining(told),
    });
    expect(streams[0]?.abortedWith).toBeDefined();
  });

  it('takes a result with __proto__ without it', async () => {
    const { agent } = agentOf(async (stream) => {
      const { requestId } = JSON.parse(await heard(stream));
      say(
        stream,
        `{"requestId":"${requestId}","status":"ok","result":{"__proto__":{"isAdmin":true},"a":1},"timestamp":"2026-01-02T03:04:05Z"}`,
      );
    });
    const result = await agent.invokeTool('search', {});
    expect(Object.keys(result)).toEqual(['a']);
    expect(result['isAdmin']).toBeUndefined();
  });

  it.each([
    ['breaks', (stream: MemoryStream) => stream.abort(new Error('gone')), 'REMOTE_FAILED'],
    ['ends', (stream: MemoryStream) => stream.close(), 'REMOTE_FAILED'],
    ['sends nonsense', (stream: MemoryStream) => say(stream, 'hello\n'), 'REMOTE_FAILED'],
    ['sends too much', (stream: MemoryStream) => say(stream, `{"a":"${'x'.repeat(2_000)}`), 'BODY_TOO_LARGE'],
  ])('rejects when the peer %s', async (_, peer, code) => {
    const { agent, streams, clock } = agentOf(peer, { maxBytes: 1_000 });
    await expect(agent.invokeTool('search', {})).rejects.toMatchObject({ code });
    expect(streams[0]?.abortedWith).toBeDefined();
    expect(clock.pending).toBe(0);
  });

  it.each([
    ['says nothing', () => undefined],
    [
      'sends a byte a second',
      async (stream: MemoryStream, clock: FakeClock) => {
        const drip = (): void => {
          if (stream.other.abortedWith !== undefined) return;
          say(stream, '{');
          clock.setTimer(1_000, drip);
        };
        say(stream, '{"a":"');
        drip();
      },
    ],
  ])('gives a peer that %s its time, and no more', async (_, peer) => {
    let drips: ((clock: FakeClock) => unknown) | undefined;
    const { agent, streams, clock } = agentOf((stream) => {
      drips = (time) => peer(stream, time);
    });
    const ends = expect(agent.invokeTool('search', {})).rejects.toMatchObject({ code: 'DEADLINE_EXCEEDED' });
    await clock.advanceAsync(0);
    drips?.(clock);
    await clock.advanceAsync(29_999);
    expect(streams[0]?.abortedWith).toBeUndefined();
    await clock.advanceAsync(1);
    await ends;
    expect(streams[0]?.abortedWith).toMatchObject({ code: 'DEADLINE_EXCEEDED' });
  });

  it('ends a request that is not wanted any more, also while its stream is being opened', async () => {
    const controller = new AbortController();
    const { agent, streams } = agentOf(() => undefined);
    const ends = expect(agent.invokeTool('search', {}, { signal: controller.signal })).rejects.toMatchObject({
      code: 'CANCELLED',
    });
    await Promise.resolve();
    controller.abort();
    await ends;
    expect(streams[0]?.abortedWith).toBeDefined();
    const { agent: second, open } = agentOf(() => undefined);
    await expect(second.fetchAgentCard({ signal: AbortSignal.abort() })).rejects.toMatchObject({
      code: 'CANCELLED',
    });
    expect(open).not.toHaveBeenCalled();
  });

  it('resets, after a second, the stream of a peer that has answered and does not end it', async () => {
    const { agent, streams, clock } = agentOf(async (stream) => {
      const { requestId } = JSON.parse(await heard(stream));
      say(stream, `{"requestId":"${requestId}","status":"ok","timestamp":"2026-01-02T03:04:05Z"}\n`);
    });
    expect(await agent.invokeTool('search', {})).toEqual({});
    expect(streams[0]?.abortedWith).toBeUndefined();
    await clock.advanceAsync(1_000);
    expect(streams[0]?.abortedWith).toBeDefined();
    expect(clock.pending).toBe(0);
  });

  it('asks for its token before each request, if that is a function', async () => {
    const tokens: string[] = [];
    const { agent } = agentOf(
      async (stream) => {
        const request = JSON.parse(await heard(stream));
        tokens.push(request.sessionToken);
        say(
          stream,
          `{"requestId":"${request.requestId}","status":"ok","timestamp":"2026-01-02T03:04:05Z"}\n`,
        );
        await stream.close();
      },
      { sessionToken: async () => `token-${tokens.length}` },
    );
    await agent.fetchAgentCard();
    await agent.fetchAgentCard();
    expect(tokens).toEqual(['token-0', 'token-1']);
  });
});

describe('An attestation that comes with a result', () => {
  /** Alice's agent of a house, whose result is changed on its way by `change`. */
  function attested(change: (answer: string) => string = (answer) => answer, options: HouseOptions = {}) {
    const owner = someone('house');
    const clock = new FakeClock(Date.UTC(2026, 0, 2, 3, 4, 5, 60));
    const zkAttest = schnorrAttestation(owner.privateKey, { clock, newSecret: secretsInOrder('proofs') });
    const rules = [{ peerDid: '*', action: 'allow' as const, tools: ['search'] }];
    const house = langoHouse({ firewall: { rules, zkAttest, did: owner.did }, ...options });
    const debug = vi.fn();
    const agentWith = (attestations?: AttestationVerifier) =>
      new P2PRemoteAgent(
        {
          ...OF_HOUSE,
          did: owner.did,
          sessionToken: house.token,
          open: async () => {
            const { theirs } = house.streamOf();
            const [ours, changed] = streamPair();
            void (async () => {
              say(theirs, await heard(changed));
              say(changed, change(await heard(theirs)));
              await Promise.all([theirs.close(), changed.close()]);
            })();
            return ours;
          },
          ...(attestations && { attestations }),
        },
        { clock, newSecret: secretsInOrder('alice'), debug },
      );
    return { debug, agentWith, verifier: new AttestationVerifier({}, { clock }) };
  }

  it('is logged at debug (L-25), also if nobody checks it', async () => {
    const { agentWith, debug } = attested();
    expect(await agentWith().invokeTool('search', {})).toEqual({ found: 1 });
    expect(debug.mock.calls).toEqual([
      ['response has ZK attestation', { peerId: 'peer-house', toolName: 'search', bytes: 89 }],
    ]);
  });

  it('is checked, also of an empty result, which the wire leaves out (L-23)', async () => {
    const whole = attested();
    expect(await whole.agentWith(whole.verifier).invokeTool('search', {})).toEqual({ found: 1 });
    const empty = attested(undefined, { executor: () => ({}) });
    expect(await empty.agentWith(empty.verifier).invokeTool('search', {})).toEqual({});
  });

  it.each([
    ['the result was changed', (answer: string) => answer.replace('"found":1', '"found":2'), 'not valid'],
    [
      'the proof was left out',
      (answer: string) => answer.replace(/"attestationProof":"[^"]*",/, ''),
      'no attestation',
    ],
    [
      'the proof was cut',
      (answer: string) => answer.replace(/("attestationProof":")[^"]{4}/, '$1'),
      'no proof',
    ],
  ])('is an error, not a warning, when %s', async (_, change, told) => {
    const { agentWith, verifier } = attested(change);
    await expect(agentWith(verifier).invokeTool('search', {})).rejects.toMatchObject({
      code: 'REMOTE_FAILED',
      message: expect.stringContaining(told),
    });
  });

  it('that comes a second time is refused', async () => {
    let first: string | undefined;
    const { agentWith, verifier } = attested((answer) => {
      const proof = /"attestationProof":"([^"]*)"/.exec(answer)?.[1] as string;
      first ??= proof;
      return answer.replace(proof, first);
    });
    const agent = agentWith(verifier);
    await agent.invokeTool('search', {});
    await expect(agent.invokeTool('search', {})).rejects.toThrow('used before');
  });
});

it('An agent of a peer is none without what it needs', () => {
  const deps = { clock: new FakeClock(), newSecret: secretsInOrder() };
  const none = { ...OF_HOUSE, sessionToken: 'x' };
  expect(() => new P2PRemoteAgent({ ...none } as never, deps)).toThrow(OrreryError);
  const open = async () => streamPair()[0];
  expect(() => new P2PRemoteAgent({ ...none, open, timeoutMs: 0 }, deps)).toThrow('timeoutMs');
});
