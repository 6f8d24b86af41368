import { capability, defineAgent, startSystem, type Team } from 'orrery';
import { langoAgent, type LangoAgentOptions, langoNode, type LangoNode } from 'orrery/lango';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { type Answering, BareServer } from '../fixtures/lango/bare-server.ts';
import { servedLango } from '../fixtures/lango/served-team.ts';
import { rejection, until } from '../fixtures/until.ts';

const some = (id: string) => capability({ id, description: id, input: z.unknown(), output: z.unknown() });
const search = some('search');
const CARD = {
  name: 'Bazaar',
  description: 'Sells',
  skills: [{ id: 'search', name: 'Search', description: 'Finds things', tags: [] }, { id: 7 }],
  capabilities: ['search', 'haggle'],
};

describe('A peer of Lango as a member of a team (L-19)', () => {
  const open: AsyncDisposable[] = [];
  const keep = <Kept extends AsyncDisposable>(kept: Kept): Kept => {
    open.unshift(kept);
    return kept;
  };
  let node: LangoNode;
  beforeEach(async () => {
    node = keep(await langoNode({ listen: [] }));
  });
  afterEach(async () => {
    for (const one of open.splice(0)) await one[Symbol.asyncDispose]();
  });

  /** A bare program that has a card, and answers calls as it is said. */
  const server = async (answer: Answering): Promise<BareServer> =>
    keep(
      await BareServer.start((request) =>
        request['type'] === 'tool_invoke' ? answer(request) : { status: 'ok', result: CARD },
      ),
    );
  const team = async (there: BareServer, options: Partial<LangoAgentOptions> = {}): Promise<Team> => {
    const member = await langoAgent(there.address, { node, name: 'bazaar', ...options });
    return keep(await startSystem({ agents: [member] }));
  };
  const at = { agent: 'bazaar/bazaar', capability: search };

  it('is asked, in bytes as the seed has them, each request over a stream of its own (L-03, L-04, L-08)', async () => {
    const there = await server(() => ({ status: 'ok', result: { found: 2 } }));
    const system = await team(there);
    expect(await system.ask(search, { query: 'a < b', n: 1 })).toEqual({ found: 2 });
    expect(there.texts.slice(1)).toEqual([
      expect.stringMatching(
        new RegExp(
          `^\\{"type":"tool_invoke","sessionToken":"${there.tokens[0]}","requestId":"[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}","payload":\\{"params":\\{"n":1,"query":"a \\\\u003c b"\\},"toolName":"search"\\}\\}\\n$`,
        ),
      ),
    ]);
    expect(system.registry.getById('bazaar/bazaar')).toMatchObject({
      name: 'Bazaar',
      tier: 3,
      sandboxId: 'bazaar/bazaar',
      protocols: ['lango/a2a/1.0.0'],
    });
    expect(await system.ask(some('haggle'), {})).toEqual({ found: 2 });
    expect(await system.conservation()).toMatchObject({ inFlight: 0, holds: true });
  });

  it('taints whoever asks it, with its DID', async () => {
    const there = await server(() => ({ status: 'ok', result: {} }));
    const buy = some('buy');
    const buyer = defineAgent({
      id: 'buyer',
      name: 'BUYER',
      version: '1.0.0',
      description: '',
      tier: 2,
    }).handle(buy, async (_, ctx) => {
      await ctx.ask(search, {});
      return [...(ctx.taint ?? [])];
    });
    const member = await langoAgent(there.address, { node, name: 'bazaar', sandboxId: null, grantedTier: 2 });
    const system = keep(await startSystem({ agents: [member, buyer] }));
    expect(await system.ask(buy, {})).toEqual([`lango:${there.did}`]);
  });

  it('rejects in the words of the peer, and for an answer to another request (L-20)', async () => {
    const answers: (object | string)[] = [
      { status: 'error', error: 'tool not found' },
      { status: 'denied', error: 'a firewall rule denies it' },
      { status: 'ok', requestId: 'another', result: {} },
      'this is no JSON\n',
    ];
    const there = await server(() => answers.shift() ?? {});
    const system = await team(there);
    for (const words of ['tool not found', 'a firewall rule denies it', 'another request', 'no JSON'])
      expect(await rejection(system.ask(at, {}))).toEqual({
        code: 'REMOTE_FAILED',
        message: expect.stringContaining(words),
      });
    expect(await rejection(system.ask(at, 'no object'))).toMatchObject({ code: 'INVALID_PAYLOAD' });
    // Each was asked once.
    expect(there.texts).toHaveLength(5);
  });

  it('begins a new session when the old one is over, and when the peer has forgotten it', async () => {
    const there = await server(() => ({ status: 'ok', result: { found: 1 } }));
    there.ttlMs = 0;
    const system = await team(there);
    const begun = there.tokens.length;
    there.ttlMs = 3_600_000;
    expect(await system.ask(at, {})).toEqual({ found: 1 });
    expect(there.tokens).toHaveLength(begun + 1);
    there.forget();
    const asked = await Promise.all(Array.from({ length: 8 }, () => system.ask(at, {})));
    expect(asked).toEqual(Array.from({ length: 8 }, () => ({ found: 1 })));
    expect(there.tokens).toHaveLength(begun + 3);
  });

  it('lives on while nobody can be reached, and is asked again (L-09)', async () => {
    const there = await server(() => ({ status: 'ok', result: {} }));
    const system = await team(there);
    await there[Symbol.asyncDispose]();
    expect(await rejection(system.ask(at, {}))).toEqual({
      code: 'REMOTE_UNREACHABLE',
      message: expect.stringMatching(/^open stream to /),
    });
    expect(await rejection(langoAgent(there.address, { node }))).toMatchObject({
      code: 'REMOTE_UNREACHABLE',
    });
    expect((await system.roster()).find(({ id }) => id === at.agent)?.status).toBe('running');
    expect(await system.conservation()).toMatchObject({ inFlight: 0, holds: true });
  });

  it('resets the stream of a request that is cancelled', async () => {
    const { promise, resolve } = Promise.withResolvers<void>();
    const there = await server(() => promise.then(() => ({ status: 'ok', result: {} })));
    const system = await team(there);
    const ending = new AbortController();
    const asked = rejection(system.ask(at, {}, { signal: ending.signal }));
    await until('it is asked', () => there.texts.length === 2);
    ending.abort();
    expect(await asked).toMatchObject({ code: 'CANCELLED' });
    await until('the stream is reset', () => there.resets === 1);
    resolve();
  });

  it('takes no answer without a proof where proofs are wanted, and those of a team of ours (L-23, L-25)', async () => {
    const there = await server(() => ({ status: 'ok', result: {} }));
    const system = await team(there, { attested: true });
    expect(await rejection(system.ask(at, {}))).toMatchObject({
      code: 'REMOTE_FAILED',
      message: expect.stringContaining('no attestation'),
    });
    const ours = keep(await servedLango({ trust: { [node.did]: { tools: ['peddler.*'] } } }));
    const heard: string[] = [];
    const member = await langoAgent(ours.address, {
      node,
      attested: true,
      debug: (text) => heard.push(text),
    });
    const other = keep(await startSystem({ agents: [member] }));
    expect(await other.ask(some('peddler.search'), { query: 'rug' })).toMatchObject({
      found: ['rug 1', 'rug 2'],
    });
    expect(heard).toEqual(['response has ZK attestation']);
  });

  it('is proposed to, and works in a swarm, like every other agent', async () => {
    const there = await server(() => ({ status: 'ok', result: { found: 3 } }));
    const system = await team(there, { sandboxId: null });
    const proposal = await system.negotiator.propose({
      taskDescription: 'Find a rug',
      requiredCapabilities: ['search'],
      estimatedComplexity: 'simple',
      deadlineMs: 60_000,
    });
    expect(proposal).toMatchObject({ status: 'accepted', acceptedBy: at.agent });
    await system.negotiator.release(proposal.proposalId);
    const { id } = await system.swarms.createSwarm('Find a rug', ['search'], { input: { query: 'rug' } });
    expect(await system.swarms.outcome(id)).toMatchObject({
      status: 'completed',
      results: { search: { found: 3 } },
    });
    expect(there.texts).toHaveLength(2);
  });
});
