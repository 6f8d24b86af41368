import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import {
  type AgentChannel,
  capability,
  channelsOf,
  defineAgent,
  type RoutingConfig,
} from '../../../index.ts';
import { simulate } from '../../../simulate.ts';
import { letter } from '../../fixtures/agent-pair.ts';

const CARD = { version: '1.0.0', description: 'Writes', tier: 2 } as const;
const said = (id: string) => ({ id: `post.${id}`, description: id, input: z.undefined() });
const open = capability({ ...said('open'), output: z.void() });
const write = capability({ ...said('write'), output: z.void() });
const close = capability({ ...said('close'), output: z.void() });
const outcomes = capability({ ...said('outcomes'), output: z.array(z.string()) });
const count = capability({ ...said('count'), output: z.int() });

const NAMES = ['mars', 'venus'] as const;

/** Two agents, of which the first opens a channel to the second; none waits for what becomes of what it writes. */
const correspondents = () => {
  const listen = (channel: AgentChannel): void => void channel.onMessage(() => undefined);
  return NAMES.map((id) => {
    const settled: string[] = [];
    return defineAgent({ id, name: id, sandboxId: id, ...CARD })
      .onChannel(listen)
      .handle(open, async (_, ctx) => listen(await channelsOf(ctx).openChannel('venus')))
      .handle(close, (_, ctx) => channelsOf(ctx).closeAll())
      .handle(count, (_, ctx) => channelsOf(ctx).listChannels().length)
      .handle(outcomes, () => settled)
      .handle(write, (_, ctx) => {
        const [channel] = channelsOf(ctx).listChannels() as [AgentChannel];
        channel.send(letter(settled.length, id)).then(
          () => settled.push('sent'),
          (error: { code: string }) => settled.push(error.code),
        );
      });
  });
};

const rule = { sourceTier: 2, allowedTargetTiers: [0], requiresEscalationJustification: false } as const;
/** Both may leave their sandboxes. */
const ALLOWS: RoutingConfig = { sandbox: { enforced: true, crossSandboxAllowList: [...NAMES] } };
const FORBIDS = {
  tiers: { tiers: { rules: [rule] } },
  sandbox: { sandbox: { enforced: true, crossSandboxAllowList: [] } },
} satisfies Record<string, RoutingConfig>;
const SEEDS = Array.from({ length: 20 }, (_, n) => n + 1);

describe('A channel whose opener may no longer write (N-4.5, N-3.3)', () => {
  it('brings what whoever accepted it answers, however late it hears that the opener listens', async () => {
    for (const seed of SEEDS) {
      const { value, error } = await simulate({
        agents: correspondents(),
        seed,
        faults: { delay: { probability: 0.3 } },
        run: async (team, { sleep }) => {
          await team.configure(ALLOWS);
          await team.ask({ agent: 'mars', capability: open }, undefined);
          await team.configure(FORBIDS.tiers);
          for (const agent of NAMES) await team.ask({ agent, capability: write }, undefined);
          await sleep(5_000);
          return Promise.all(NAMES.map((agent) => team.ask({ agent, capability: outcomes }, undefined)));
        },
      });
      expect({ seed, error, value }).toEqual({ seed, value: [['TIER_VIOLATION'], ['sent']] });
    }
  });

  it.each(['tiers', 'sandbox'] as const)(
    'is closed at both ends when the opener closes it: %s',
    async (by) => {
      const { value, error } = await simulate({
        agents: correspondents(),
        run: async (team, { sleep }) => {
          await team.configure(ALLOWS);
          await team.ask({ agent: 'mars', capability: open }, undefined);
          await team.configure(FORBIDS[by]);
          await team.ask({ agent: 'mars', capability: close }, undefined);
          await sleep(5_000);
          return team.ask({ agent: 'venus', capability: count }, undefined);
        },
      });
      expect({ error, value }).toEqual({ value: 0 });
    },
  );
});
