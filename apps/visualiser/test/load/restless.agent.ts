import { defineAgent } from 'orrery';
import { ponder, roam, TEAM } from './restless.ts';

const PAUSE_MS = 20;
const ONE_IN = 100;

export const restless = defineAgent({
  id: 'restless',
  name: 'Restless',
  version: '1.0.0',
  description: 'Is never done',
  tier: 2,
})
  .handle(roam, async (step, ctx) => {
    await ctx.sleep(ctx.random() * PAUSE_MS);
    const other = (): string => TEAM[Math.floor(ctx.random() * TEAM.length)] ?? ctx.self;
    if (step % 5 === 0)
      await ctx
        .ask({ agent: other(), capability: ponder }, step, { timeoutMs: 1_000, whenFull: 'park' })
        .catch(() => 0);
    ctx.tell({ agent: other(), capability: roam }, step + 1);
    return null;
  })
  .handle(ponder, async (step, ctx) => {
    await ctx.sleep(ctx.random() * PAUSE_MS);
    if (ctx.random() < 1 / ONE_IN) throw new Error('lost its thread');
    return step;
  });
