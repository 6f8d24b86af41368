import { readFileSync } from 'node:fs';
import { capability, defineAgent } from 'orrery';
import { z } from 'zod';

export const peek = capability({
  id: 'files.peek',
  description: 'Says whether a file can be read',
  input: z.object({ path: z.string() }),
  output: z.string(),
});

export const hoard = capability({
  id: 'memory.hoard',
  description: 'Takes memory until there is no more',
  input: z.void(),
  output: z.void(),
});

export const nereid = defineAgent({
  id: 'nereid',
  name: 'NEREID',
  version: '1.0.0',
  description: 'Is curious, and greedy',
  tier: 3,
})
  .handle(peek, ({ path }) => {
    try {
      return `${readFileSync(path).length} bytes`;
    } catch (error) {
      return (error as { code: string }).code;
    }
  })
  .handle(hoard, async (_, ctx) => {
    for (const kept: Buffer[] = []; ; await ctx.sleep(1)) kept.push(Buffer.alloc(10_000_000, 1));
  });
