import { capability, type FoundPeer, type PeerOptions, type RemoteQuery, startSystem } from 'orrery';
import { webSocket } from 'orrery/websocket';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { defineAgent } from '../../../index.ts';
import { simulate } from '../../../simulate.ts';
import { rejection } from '../../fixtures/until.ts';

const FACTS = { version: '1.0.0', description: 'One of a team', tier: 2 } as const;
const sum = capability({
  id: 'sum',
  description: 'Adds two numbers',
  input: z.tuple([z.number(), z.number()]),
  output: z.number(),
});
const passOn = capability({
  id: 'pass.on',
  description: 'Asks an agent, or whoever offers it, for a sum',
  input: z.object({ to: z.string().optional(), timeoutMs: z.number().optional() }),
  output: z.object({ answer: z.unknown(), taint: z.array(z.string()) }),
});
const wipe = capability({
  id: 'wipe',
  description: 'Does what nobody outside may have done',
  input: z.number(),
  output: z.string(),
  privileged: true,
});
const sumThenWipe = capability({
  id: 'sum.then.wipe',
  description: 'Asks for a sum, then wipes that much',
  input: z.string(),
  output: z.string(),
});

const codeOf = (error: unknown): string => (error as { code: string }).code;

/** Lives in a worker thread, as all agents of a simulation do. */
const passer = () =>
  defineAgent({ id: 'passer', name: 'PASSER', ...FACTS })
    .handle(passOn, async ({ to, timeoutMs }, ctx) => {
      const target = to === undefined ? sum : { agent: to, capability: sum };
      const options = timeoutMs === undefined ? {} : { timeoutMs };
      const answer = await ctx.ask(target, [1, 2], options).catch(codeOf);
      return { answer, taint: [...(ctx.taint ?? [])] };
    })
    .handle(sumThenWipe, async (to, ctx) => {
      const count = await ctx.ask({ agent: to, capability: sum }, [1, 2]);
      return ctx.ask(wipe, count).catch(codeOf);
    });
const wiper = () => defineAgent({ id: 'wiper', name: 'WIPER', ...FACTS }).handle(wipe, () => 'wiped');

/** The way to an agent of another node: it adds, and keeps whatever it is told. */
const far = (id = 'far', told: unknown[] = []) =>
  defineAgent({ id, name: 'FAR', ...FACTS, tier: 0 })
    .handle(sum, ([one, other]) => one + other)
    .on('notification', ({ payload }) => void told.push(payload));

/** One node may answer the agent here; without that the sandbox lets it ask nobody there. */
const policies = {
  sandbox: { enforced: true, crossSandboxAllowList: [], allow: { 'b/': ['passer'] } },
};

const grant = { nodeId: 'b', grantedTier: 2 } as const;

interface Peering extends Partial<PeerOptions> {
  readonly found?: (query: RemoteQuery) => readonly FoundPeer[] | Promise<readonly FoundPeer[]>;
}

/** A team with a lookup that notes what it was asked for. */
function peering({ found = () => [], ...limits }: Peering = {}) {
  const asked: RemoteQuery[] = [];
  const lookup = async (query: RemoteQuery): Promise<readonly FoundPeer[]> => {
    asked.push(query);
    return found(query);
  };
  return { asked, team: { agents: [passer(), wiper()], policies, peers: { lookup, ...limits } } };
}

describe('A running system that asks other nodes (N-4.4, N-V02)', () => {
  it('finds an agent and a capability there, for the embedder and for agents in threads, once each', async () => {
    const { asked, team } = peering({
      found: ({ id }) => (id === 'far' || id === 'sum' ? [{ agent: far(), grant }] : []),
    });
    const { value, finalState } = await simulate({
      ...team,
      run: async (system) => {
        const byAgent = await system.ask(passOn, { to: 'far' });
        const byEmbedder = await system.ask({ agent: 'far', capability: sum }, [3, 4]);
        const byCapability = await system.ask(passOn, {});
        return { byAgent, byEmbedder, byCapability };
      },
    });
    expect(value).toMatchObject({ byAgent: { answer: 3 }, byEmbedder: 7, byCapability: { answer: 3 } });
    expect(asked).toEqual([{ kind: 'agent', id: 'far' }]);
    expect(finalState?.conservation.holds).toBe(true);
  });

  it('has an ask wait for one lookup, however many ask and from wherever', async () => {
    const { asked, team } = peering({ found: () => [{ agent: far('further'), grant }] });
    const { value } = await simulate({
      ...team,
      run: (system) =>
        Promise.all([
          system.ask(sum, [5, 6]),
          ...Array.from({ length: 20 }, () => system.ask(passOn, {}).then(({ answer }) => answer)),
        ]),
    });
    expect(value).toEqual([11, ...Array.from({ length: 20 }, () => 3)]);
    expect(asked).toEqual([{ kind: 'capability', id: 'sum' }]);
  });

  it('judges whom it finds by the tier and sandbox that it was granted, and marks what it says (C-31)', async () => {
    const { team } = peering({ found: () => [{ agent: far(), grant }] });
    const { value } = await simulate({
      ...team,
      run: async (system) => {
        const { taint } = await system.ask(passOn, { to: 'far' });
        const { registry } = system;
        const { origin, tier, taint: ofCard } = registry.getById('far') ?? {};
        return {
          taint,
          origin,
          ofCard,
          says: tier,
          isOf2: registry.findByTier(2).some(({ id }) => id === 'far'),
        };
      },
    });
    expect(value).toEqual({
      taint: ['peer:b'],
      origin: 'remote',
      ofCard: ['peer:b'],
      says: 0,
      isOf2: true,
    });
  });

  it('lets nothing that came from there do what is privileged, unless the embedder trusts it (F-09)', async () => {
    const outcomes = await Promise.all(
      [false, true].map(async (trusted) => {
        const { team } = peering({ found: () => [{ agent: far(), grant, trusted }] });
        const { value } = await simulate({ ...team, run: (system) => system.ask(sumThenWipe, 'far') });
        return value;
      }),
    );
    expect(outcomes).toEqual(['TAINTED', 'wiped']);
  });

  it('lets an agent of its own wait for no answer that the sandbox would not let back (C-34)', async () => {
    const { team } = peering({ found: () => [{ agent: far('nobodys'), grant: { ...grant, nodeId: 'c' } }] });
    const { value } = await simulate({ ...team, run: (system) => system.ask(passOn, { to: 'nobodys' }) });
    expect(value).toMatchObject({ answer: 'SANDBOX_VIOLATION' });
  });

  it('never gives an id of this node, or of another one, to whom a lookup finds (C-31)', async () => {
    const { team } = peering({
      found: ({ id }) => [
        {
          agent: far('impostor'),
          card: { ...far('wiper').card(0), capabilities: far().card(0).capabilities },
        },
        ...(id === 'ghost' ? [{ agent: far('ghost'), grant: { nodeId: 'evil' } }] : []),
      ],
    });
    const { value } = await simulate({
      ...team,
      run: async (system) => {
        system.registry.mergeRemote(far('ghost').card(0), { nodeId: 'honest' });
        const ghost = await rejection(system.ask({ agent: 'ghost', capability: sum }, [1, 2]));
        const wiped = await system.ask(wipe, 1);
        const offered = await rejection(system.ask(sum, [1, 2]));
        const reasons = (await system.recentEvents()).flatMap(({ type, reason }) =>
          type === 'error' ? [reason] : [],
        );
        return { ghost: ghost.code, wiped, offered: offered.code, reasons };
      },
    });
    expect(value).toMatchObject({
      ghost: 'AGENT_NOT_FOUND',
      wiped: 'wiped',
      offered: 'CAPABILITY_NOT_FOUND',
    });
    expect((value as { reasons: string[] }).reasons.join('\n')).toContain(
      'The lookup of the agent "ghost" on other nodes failed: "ghost" is an agent of this node, or of another one than "evil"',
    );
  });

  it('gives the id of whom it has found to no agent of this node, until that one is unregistered (C-31)', async () => {
    const { team } = peering({ found: ({ id }) => (id === 'far' ? [{ agent: far(), grant }] : []) });
    const impostor = () => defineAgent({ id: 'far', name: 'NEAR', ...FACTS }).handle(sum, () => -1);
    const { value } = await simulate({
      ...team,
      run: async (system) => {
        const asked = async () => (await system.ask(passOn, { to: 'far' })) as { answer: unknown };
        const before = await asked();
        const card = impostor().card(0);
        const registered = await rejection(
          Promise.resolve().then(() => system.registry.register({ ...card, origin: 'local' })),
        );
        const started = await rejection(system.start([impostor()]));
        const after = await asked();
        const { origin, taint } = system.registry.getById('far') ?? {};
        system.registry.unregister('far');
        await system.start([impostor()]);
        return { before, registered, started, after, origin, taint, own: (await asked()).answer };
      },
    });
    expect(value).toMatchObject({
      before: { answer: 3, taint: ['peer:b'] },
      registered: {
        code: 'INVALID_CARD',
        message: expect.stringContaining('"far" is an agent of the node "b" and hosted here'),
      },
      started: { code: 'INVALID_OPTIONS' },
      after: { answer: 3, taint: ['peer:b'] },
      origin: 'remote',
      taint: ['peer:b'],
      own: -1,
    });
  });

  it('tells at once that a tell waits for a lookup, and delivers what waits itself', async () => {
    const told: unknown[] = [];
    const { team } = peering({ found: ({ id }) => (id === 'far' ? [{ agent: far('far', told) }] : []) });
    const { value } = await simulate({
      ...team,
      run: async (system) => {
        const first = system.tell('far', 'too early');
        const patient = await system.tellWhenRoom('far', 'waited');
        const later = system.tell('far', 'later');
        const nowhere = await system.tellWhenRoom('nowhere', 'lost');
        await system.ask({ agent: 'far', capability: sum }, [1, 2]);
        return { first, patient: patient.delivered, later: later.delivered, nowhere: nowhere.errorCode };
      },
    });
    expect(value).toMatchObject({
      first: {
        delivered: false,
        errorCode: 'NOT_HERE',
        error: '"far" is not here; other nodes are being asked for it',
        retryAfterMs: 100,
      },
      patient: true,
      later: true,
      nowhere: 'AGENT_NOT_FOUND',
    });
    expect(told).toEqual(['waited', 'later']);
  });

  it('has an envelope of the embedder wait too, and says where it went', async () => {
    const told: unknown[] = [];
    const { team } = peering({ found: ({ id }) => (id === 'far' ? [{ agent: far('far', told) }] : []) });
    const { value } = await simulate({
      ...team,
      run: async (system) => {
        const envelope = (recipient: string, at: number) => ({
          id: `0199${at}000-0000-7000-8000-000000000000`,
          type: 'notification' as const,
          sender: 'system/host',
          recipient,
          schemaVersion: 1,
          timestamp: 1,
          payload: recipient,
        });
        const sent = await system.send(envelope('far', 1001) as never);
        const lost = await system.send(envelope('nowhere', 1002) as never);
        await system.ask({ agent: 'far', capability: sum }, [1, 2]);
        return { sent, lost };
      },
    });
    expect(value).toMatchObject({
      sent: { delivered: true, targetAgentId: 'far' },
      lost: { delivered: false, errorCode: 'AGENT_NOT_FOUND' },
    });
    expect(told).toEqual(['far']);
  });
});

describe('A lookup that finds nobody', () => {
  it('is not made again for a while, from any thread, and then is', async () => {
    const { asked, team } = peering({ missMs: 1_000 });
    const { value } = await simulate({
      ...team,
      run: async (system, { sleep }) => {
        const codes = new Set<string>();
        for (let at = 0; at < 50; at++) {
          codes.add((await rejection(system.ask({ agent: 'missing', capability: sum }, [1, 2]))).code);
          codes.add(String((await system.ask(passOn, { to: 'missing' })).answer));
        }
        const asksAtOnce = asked.length;
        await sleep(1_500);
        await rejection(system.ask({ agent: 'missing', capability: sum }, [1, 2]));
        return { codes: [...codes], asksAtOnce, asksLater: asked.length };
      },
    });
    expect(value).toEqual({ codes: ['AGENT_NOT_FOUND'], asksAtOnce: 1, asksLater: 2 });
  });

  it('ends with AGENT_NOT_FOUND where it throws or hangs, and its reason is an event', async () => {
    const never = (): Promise<never> => new Promise(() => undefined);
    const { team } = peering({
      timeoutMs: 1_000,
      found: ({ id }) => {
        if (id === 'hangs') return never();
        if (id === 'odd') return [{ agent: 'not an agent' } as never];
        throw new Error('no peers today');
      },
    });
    const { value } = await simulate({
      ...team,
      run: async (system, { clock }) => {
        const took = async (work: () => Promise<unknown>) => {
          const fromMs = clock.now();
          const outcome = await work();
          return [outcome, Math.round((clock.now() - fromMs) / 500) * 500];
        };
        const ask = (agent: string, timeoutMs: number) => async () =>
          (await rejection(system.ask({ agent, capability: sum }, [1, 2], { timeoutMs }))).code;
        const outcomes = [
          await took(ask('throws', 30_000)),
          await took(ask('odd', 30_000)),
          await took(ask('hangs', 500)),
          await took(ask('hangs', 30_000)),
          await took(async () => (await system.ask(passOn, { to: 'hangs-not', timeoutMs: 500 })).answer),
        ];
        const reasons = (await system.recentEvents()).flatMap(({ type, reason }) =>
          type === 'error' ? [reason] : [],
        );
        return { outcomes, reasons };
      },
    });
    const { outcomes, reasons } = value as { outcomes: unknown[]; reasons: string[] };
    expect(outcomes).toEqual([
      ['AGENT_NOT_FOUND', 0],
      ['AGENT_NOT_FOUND', 0],
      ['AGENT_NOT_FOUND', 500],
      ['AGENT_NOT_FOUND', 500],
      ['AGENT_NOT_FOUND', 0],
    ]);
    expect(reasons).toContain('The lookup of the agent "throws" on other nodes failed: no peers today');
    expect(reasons).toContain(
      'The lookup of the agent "hangs" on other nodes failed: no answer within 1000 ms',
    );
    expect(reasons.some((reason) => reason.includes('"odd"') && reason.includes('peers.lookup'))).toBe(true);
  });

  it('is waited for no longer than whoever asks waits', async () => {
    const { team } = peering({ timeoutMs: 10_000, found: () => new Promise(() => undefined) });
    const { value } = await simulate({
      ...team,
      run: async (system, { clock, sleep }) => {
        const ended = new AbortController();
        const asking = rejection(
          system.ask({ agent: 'hangs', capability: sum }, [1, 2], { signal: ended.signal }),
        );
        await sleep(100);
        const fromMs = clock.now();
        ended.abort();
        const { code } = await asking;
        return { code, isSoon: clock.now() - fromMs <= 200 };
      },
    });
    expect(value).toEqual({ code: 'CANCELLED', isSoon: true });
  });

  it('takes in so many agents at most', async () => {
    const { team } = peering({ maxFound: 2, found: ({ id }) => [{ agent: far(id) }] });
    const { value } = await simulate({
      ...team,
      run: async (system) => {
        const ask = (agent: string) => system.ask({ agent, capability: sum }, [1, 2]).catch(codeOf);
        return [await ask('one'), await ask('two'), await ask('three'), await ask('one')];
      },
    });
    expect(value).toEqual([3, 3, 'AGENT_NOT_FOUND', 3]);
  });
});

describe('What a system looks up with', () => {
  it('is refused naming field and value where it is no such thing', async () => {
    const node = { transports: [webSocket()], identity: { node: 'rome' } };
    const faults = [
      { lookup: 'dht' },
      { lookup: async () => [], timeoutMs: -1 },
      {},
      { ...node, discover: { topic: 'team' } },
      { ...node, discover: { topic: ['team', ''] } },
      { ...node, discover: { dial: ['rome:7400'] } },
      { ...node, addresses: ['rome.example:7000'] },
      { ...node, addresses: [`ws://${'a'.repeat(600)}`] },
      { ...node, addresses: ['/ip4/192.0.2.1/tcp/7000'] },
    ];
    const messages = await Promise.all(
      faults.map(async (peers) => (await rejection(startSystem({ peers } as never))).message),
    );
    expect(messages).toEqual([
      expect.stringContaining('peers.lookup'),
      expect.stringContaining('peers.timeoutMs'),
      expect.stringContaining('peers.transports'),
      expect.stringContaining('peers.discover.topic is "team", expected a transport that joins topics'),
      expect.stringContaining('peers.discover.topic'),
      expect.stringContaining('peers.discover.dial[0] is "rome:7400"'),
      expect.stringContaining('peers.addresses[0] is "rome.example:7000", expected ws://'),
      expect.stringContaining('peers.addresses[0] is "ws://aaa'),
      expect.stringContaining(
        'peers.addresses[0] is "/ip4/192.0.2.1/tcp/7000", expected an address of websocket',
      ),
    ]);
  });
});
