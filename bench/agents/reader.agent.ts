import { defineAgent } from 'orrery';
import { findings, readBurst } from '../capabilities.ts';

export const reader = defineAgent({
  id: 'reader',
  name: 'Reader',
  version: '1.0.0',
  description: 'Reads streams of findings',
  tier: 2,
}).handle(readBurst, async ({ count }, ctx) => {
  let read = 0;
  for await (const { line } of ctx.stream({ agent: 'finder', capability: findings }, { count }))
    read += Number(line > 0);
  if (read !== count) throw new Error(`${read} of ${count} findings came`);
  return { done: count };
});
