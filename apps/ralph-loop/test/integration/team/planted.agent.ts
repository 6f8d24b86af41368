import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { capability, defineAgent } from 'orrery';
import { z } from 'zod';

const work = (id: string) =>
  capability({
    id,
    description: id,
    input: z.looseObject({ root: z.string(), feedback: z.string().optional() }),
    output: z.object({ notes: z.array(z.object({ kind: z.string(), reason: z.string() })) }),
  });

const done = (reason: string) => ({ notes: [{ kind: 'did', reason }] });

/** Does its work, throws, ends its thread, loops for ever, or never answers, as it is asked. */
export const planted = defineAgent({
  id: 'planted',
  name: 'PLANTED',
  version: '1.0.0',
  description: 'Fails as asked',
  tier: 2,
})
  .handle(work('work.well'), (_input, ctx) => {
    ctx.progress(0.5, 'half way');
    return done('well');
  })
  .handle(work('work.throws'), () => {
    throw new Error('planted');
  })
  .handle(work('work.exits-once'), ({ root }) => {
    const marker = join(root, 'was-asked');
    if (existsSync(marker)) return done('at the second attempt');
    writeFileSync(marker, '');
    process.exit(1);
  })
  .handle(work('work.loops-once'), ({ root }) => {
    const marker = join(root, 'was-asked');
    if (existsSync(marker)) return done('at the second attempt');
    writeFileSync(marker, '');
    for (;;);
  })
  .handle(work('work.never'), async (_input, ctx) => {
    await ctx.sleep(3_600_000);
    return done('never');
  });
