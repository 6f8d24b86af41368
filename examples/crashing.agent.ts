import { capability, defineAgent } from 'orrery';
import { z } from 'zod';

export const divide = capability({
  id: 'numbers.divide',
  description: 'Divides, and dies of a zero',
  input: z.object({ dividend: z.number(), divisor: z.number() }),
  output: z.number(),
});

export const pluto = defineAgent({
  id: 'pluto',
  name: 'PLUTO',
  version: '1.0.0',
  description: 'Divides',
  tier: 2,
}).handle(divide, ({ dividend, divisor }) => {
  if (divisor === 0) throw new Error('division by zero');
  // What no exception handler can catch: an endless loop.
  while (divisor < 0);
  return dividend / divisor;
});
