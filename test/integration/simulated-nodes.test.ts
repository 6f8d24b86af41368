import { afterEach, describe, expect, it, vi } from 'vitest';
import { z } from 'zod';
import { capability, defineAgent } from 'orrery';
import { type NodeControls, type SimulatedTeam, simulate } from 'orrery/simulate';
import { PeerLine } from '../../runtime/peers/peer-line.ts';

const CARD = { version: '1.0.0', description: 'Works', tier: 2 } as const;
const work = capability({ id: 'test.work', description: 'Works', input: z.int(), output: z.int() });
const worker = (id: string, seen: number[] = []) =>
  defineAgent({ id, name: id, ...CARD }).handle(work, (n) => {
    seen.push(n);
    return n + 1;
  });

/** Rome has a worker, and oslo asks it. */
const pair = (run: (team: SimulatedTeam, controls: NodeControls) => unknown, seen?: number[]) => ({
  nodes: { rome: { agents: [worker('mars', seen)] }, oslo: { agents: [worker('venus')], run } },
});
const ask = (team: SimulatedTeam, n: number) =>
  team.ask({ agent: 'mars', capability: work }, n, { timeoutMs: 300_000 });

describe('nodes in a simulation (F-03, N-3.6)', () => {
  afterEach(() => vi.restoreAllMocks());

  it('ask each other over the network, and end when all are quiet', async () => {
    const { nodes, network, ending, violations } = await simulate(pair((team) => ask(team, 1)));
    expect({ ending, violations }).toEqual({ ending: 'quiet', violations: [] });
    expect(nodes['oslo']?.value).toBe(2);
    expect(nodes['rome']?.stats).toMatchObject({ accepted: 1, handled: 1, begun: 1, lives: 1 });
    expect(network.connected).toBeGreaterThan(0);
    expect(nodes['rome']?.finalState?.conservation.holds).toBe(true);
  });

  it('are cut off, held back and parted as their programs say', async () => {
    const { nodes, network } = await simulate(
      pair(async (team, { network: net, clock, sleep }) => {
        await ask(team, 1);
        net.cut('rome', 'oslo');
        const cut = await ask(team, 2);
        net.stall('rome', 'oslo', 3_000);
        const beganMs = clock.monotonicMs();
        const stalled = await ask(team, 3);
        const stalledMs = clock.monotonicMs() - beganMs;
        net.part([['rome']]);
        const parted = ask(team, 4);
        await sleep(5_000);
        const before = net.counts.frames;
        await sleep(1_000);
        const meanwhile = net.counts.frames - before;
        net.heal();
        return { cut, stalled, isStalled: stalledMs >= 2_900, meanwhile, parted: await parted };
      }),
    );
    expect(nodes['oslo']?.value).toEqual({ cut: 3, stalled: 4, isStalled: true, meanwhile: 0, parted: 5 });
    expect(network).toMatchObject({ cut: 1, stall: 1, partition: 1 });
  });

  it('tell who asks a node that is parted for longer than it is awaited', async () => {
    const { nodes, virtualMs } = await simulate({
      ...pair(async (team, { network, sleep }) => {
        await ask(team, 1);
        network.part([['rome'], ['oslo']]);
        await sleep(20_000);
        return ask(team, 2).catch((error) => error.code);
      }),
    });
    expect(nodes['oslo']?.value).toBe('REMOTE_UNREACHABLE');
    expect(virtualMs).toBeLessThan(120_000);
  });

  it('go on with what may be tried again while they are lost, and give its answer when it is', async () => {
    const begun: number[] = [];
    const alert = { heartbeatMs: 1_000, silenceTimeoutMs: 3_000 };
    const slow = defineAgent({ id: 'mars', name: 'mars', ...CARD }).handle(work, async (n, ctx) => {
      begun.push(n);
      await ctx.sleep(28_000);
      return n + 1;
    });
    const { nodes, violations } = await simulate({
      nodes: {
        // It gives the session up, and oslo does not.
        rome: { agents: [slow], peers: { channel: { ...alert, reconnectTimeoutMs: 5_000 } } },
        oslo: {
          agents: [],
          peers: { channel: { ...alert, reconnectTimeoutMs: 60_000 } },
          run: async (team, { network, sleep }) => {
            const asked = ['once', 'retry'].map((delivery) =>
              team
                .ask({ agent: 'mars', capability: work }, delivery === 'once' ? 1 : 2, {
                  timeoutMs: 200_000,
                  delivery: delivery as 'once' | 'retry',
                })
                .catch((error) => error.code as string),
            );
            await sleep(5_000);
            network.part([['rome']]);
            await sleep(16_000);
            network.heal();
            return Promise.all(asked);
          },
        },
      },
    });
    expect(violations).toEqual([]);
    expect({ value: nodes['oslo']?.value, begun }).toEqual({ value: ['ACTOR_DIED', 3], begun: [1, 2] });
  });

  it('that are lost for good may have begun on what was tried again', async () => {
    const slow = defineAgent({ id: 'mars', name: 'mars', ...CARD }).handle(work, async (n, ctx) => {
      await ctx.sleep(100_000);
      return n;
    });
    const { nodes } = await simulate({
      nodes: {
        rome: { agents: [slow] },
        oslo: {
          agents: [],
          peers: { channel: { heartbeatMs: 1_000, silenceTimeoutMs: 3_000, reconnectTimeoutMs: 10_000 } },
          run: async (team, { network, sleep }) => {
            const asked = team
              .ask({ agent: 'mars', capability: work }, 1, { timeoutMs: 200_000, delivery: 'retry' })
              .catch(({ code, details }) => ({ code, mayHaveArrived: details.mayHaveArrived }));
            await sleep(5_000);
            network.part([['rome']]);
            return asked;
          },
        },
      },
    });
    expect(nodes['oslo']?.value).toEqual({ code: 'REMOTE_UNREACHABLE', mayHaveArrived: true });
  });

  it('are asked for a capability before those that cannot be reached', async () => {
    const seen = { mars: [] as number[], io: [] as number[] };
    const { nodes, violations } = await simulate({
      nodes: {
        rome: { agents: [worker('mars', seen.mars)] },
        lima: { agents: [worker('io', seen.io)] },
        oslo: {
          agents: [],
          peers: { channel: { heartbeatMs: 1_000, silenceTimeoutMs: 3_000, reconnectTimeoutMs: 20_000 } },
          run: async (team, { network, sleep }) => {
            for (const agent of ['mars', 'io']) await team.ask({ agent, capability: work }, 0);
            let asked = 0;
            const whoWorks = async (): Promise<string> => {
              await team.ask(work, ++asked);
              return seen.mars.includes(asked) ? 'rome' : 'lima';
            };
            const first = await whoWorks();
            const answering = [first];
            // So long that it is awaited, and that it is lost.
            for (const awayMs of [10_000, 60_000]) {
              network.part([[first]]);
              await sleep(awayMs);
              answering.push(await whoWorks());
              network.heal();
              await sleep(10_000);
              answering.push(await whoWorks());
            }
            return answering;
          },
        },
      },
    });
    expect(violations).toEqual([]);
    const answering = nodes['oslo']?.value as readonly string[];
    const [first] = answering;
    const other = first === 'rome' ? 'lima' : 'rome';
    expect(answering).toEqual([first, other, first, other, first]);
  });

  it('are killed and come back under their keys', async () => {
    const seen: number[] = [];
    const { nodes, violations } = await simulate({
      nodes: {
        rome: {
          agents: [worker('mars', seen)],
          faults: { planned: [{ fault: 'hostCrash', atMs: 2_000 }] },
          run: (_team, { life }) => life,
        },
        oslo: {
          agents: [worker('venus')],
          run: async (team, { sleep }) => {
            const first = await ask(team, 1);
            await sleep(3_000);
            return [first, await ask(team, 2)];
          },
        },
      },
    });
    expect(violations).toEqual([]);
    expect(nodes['rome']?.value).toBe(2);
    expect(nodes['oslo']?.value).toEqual([2, 3]);
    expect(seen).toEqual([1, 2]);
  });

  it('let in whom they trust, and dial whom they are told to', async () => {
    const { nodes } = await simulate({
      nodes: {
        rome: {
          agents: [worker('mars')],
          peers: { trust: [{ node: 'lima', tier: 2, sandboxId: null }], dial: [] },
        },
        oslo: {
          agents: [worker('venus')],
          peers: { dial: ['rome'] },
          run: (team) => ask(team, 1).catch((error) => error.code),
        },
        lima: { agents: [worker('io')], peers: { dial: ['rome'] }, run: (team) => ask(team, 1) },
      },
    });
    expect(nodes['oslo']?.value).toBe('AGENT_NOT_FOUND');
    expect(nodes['lima']?.value).toBe(2);
  });

  it('are checked by invariants over all of them', async () => {
    const { violations } = await simulate({
      ...pair((team) => ask(team, 1)),
      invariants: [({ nodes }) => ((nodes['rome']?.handled ?? 0) > 0 ? 'rome has worked' : undefined)],
    });
    expect(violations).toEqual(['rome has worked']);
  });

  it('have their options refused by name and value', async () => {
    const nodes = { rome: { agents: [] } };
    await expect(simulate({ nodes: {} })).rejects.toMatchObject({ code: 'INVALID_OPTIONS' });
    await expect(
      simulate({ nodes: { rome: { agents: [], peers: { dial: ['oslo'] } } } }),
    ).rejects.toMatchObject({
      code: 'INVALID_OPTIONS',
      message: expect.stringContaining('options.nodes.rome.peers'),
    });
    await expect(
      simulate({ nodes, network: { planned: [{ fault: 'cut', atMs: 1, between: ['rome', 'oslo'] }] } }),
    ).rejects.toMatchObject({ code: 'INVALID_OPTIONS', message: expect.stringContaining('oslo') });
    await expect(simulate({ nodes: { rome: { agents: [], workers: 0 } } })).rejects.toMatchObject({
      message: expect.stringContaining('options.nodes.rome.workers'),
    });
  });

  /** Oslo asks rome, which is killed while it is at work. */
  const killedAtWork = () =>
    simulate({
      nodes: {
        rome: {
          agents: [
            defineAgent({ id: 'mars', name: 'mars', ...CARD }).handle(work, async (n, ctx) => {
              await ctx.sleep(3_000);
              return n + 1;
            }),
          ],
          faults: { planned: [{ fault: 'hostCrash', atMs: 3_000 }] },
        },
        oslo: {
          agents: [worker('venus')],
          run: async (team, { sleep }) => {
            await sleep(1_000);
            return ask(team, 1).catch((error) => error.code);
          },
        },
      },
    });

  it('are told what a killed node had begun on, which nobody begins on again', async () => {
    const { nodes, violations } = await killedAtWork();
    expect(violations).toEqual([]);
    expect(nodes['oslo']?.value).toBe('ACTOR_DIED');
    expect(nodes['rome']?.stats).toMatchObject({ begun: 1, lives: 2 });
  });

  it('are found out when they send again what may have arrived', async () => {
    const { request } = PeerLine.prototype;
    vi.spyOn(PeerLine.prototype, 'request').mockImplementation(function (this: PeerLine, asking, user) {
      const onLost = (): void => void request.call(this, { ...asking }, user);
      return request.call(this, { ...asking }, { onAnswer: (answer) => user.onAnswer(answer), onLost });
    });
    const { violations } = await killedAtWork();
    expect(violations.join()).toMatch(/rome\/mars has begun twice on \S+ of oslo\/system\/host/);
  });
});
