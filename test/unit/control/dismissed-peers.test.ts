import { afterEach, describe, expect, it, vi } from 'vitest';
import { z } from 'zod';
import { capability, defineAgent } from '../../../index.ts';
import { AgentLives } from '../../../runtime/control/agent-lives.ts';
import { PeerHost } from '../../../runtime/peers/peer-host.ts';
import { simulate } from '../../../simulate.ts';

const CARD = { version: '1.0.0', description: 'Works', tier: 2 } as const;
const work = capability({ id: 'test.work', description: 'Works', input: z.int(), output: z.int() });
const mars = (adds: number) =>
  defineAgent({ id: 'mars', name: 'MARS', ...CARD }).handle(work, (n) => n + adds);
const ask = { agent: 'mars', capability: work };

describe('An agent of this node that takes the id of one of another node (C-31)', () => {
  afterEach(() => vi.restoreAllMocks());

  it('stays when the other node said, before the thread that speaks with it had heard of that, that its own is no more', async () => {
    const { forgotten } = PeerHost.prototype;
    vi.spyOn(PeerHost.prototype, 'forgotten').mockImplementation(function (this: PeerHost, id: string) {
      for (const peer of this.node.peers) this.onGone([id], peer);
      forgotten.call(this, id);
    });
    const { nodes, violations } = await simulate({
      nodes: {
        oslo: { agents: [mars(1)] },
        rome: {
          agents: [],
          run: async (team, { sleep }) => {
            const first = await team.ask(ask, 1);
            await team.start([mars(2)]);
            await sleep(1_000);
            return [first, await team.ask(ask, 1)];
          },
        },
      },
    });
    expect([nodes['rome']?.value, violations]).toEqual([[2, 3], []]);
  });

  it('stays when it came while the other one was being stopped', async () => {
    const { stop } = AgentLives.prototype;
    const started = Promise.withResolvers<void>();
    const stopping: AgentLives[] = [];
    const { nodes, violations } = await simulate({
      nodes: {
        oslo: {
          agents: [mars(1)],
          run: async (team, { sleep }) => {
            await sleep(2_000);
            team.registry.unregister('mars');
          },
        },
        rome: {
          agents: [],
          run: async (team, { sleep }) => {
            const first = await team.ask(ask, 1);
            vi.spyOn(AgentLives.prototype, 'stop').mockImplementation(async function (
              this: AgentLives,
              id: string,
            ) {
              stopping.push(this);
              await stop.call(this, id);
              // Oslo stops its own first.
              if (this !== stopping[0]) await started.promise;
            });
            while (stopping.length < 2) await sleep(10);
            await team.start([mars(2)]);
            started.resolve();
            await sleep(1_000);
            return [first, await team.ask(ask, 1)];
          },
        },
      },
    });
    expect([nodes['rome']?.value, violations]).toEqual([[2, 3], []]);
  });
});
