import { capability, defineAgent } from 'orrery';
import { z } from 'zod';

export const step = capability({
  id: 'work.step',
  description: 'Does a piece of work that takes a while',
  input: z.object({ n: z.number() }),
  output: z.object({ n: z.number(), doneAtMs: z.number() }),
});

export const saturn = defineAgent({
  id: 'saturn',
  name: 'SATURN',
  version: '1.0.0',
  description: 'Works in steps',
  tier: 2,
}).handle(step, async ({ n }, ctx) => {
  await ctx.sleep(50);
  return { n, doneAtMs: ctx.now() };
});
