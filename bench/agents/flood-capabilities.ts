import { capability } from 'orrery';
import { z } from 'zod';

/** Has a sender tell one recipient as fast as it can for `forMs`. */
export const floodBurst = capability({
  id: 'bench.flood',
  description: 'Flood one recipient',
  input: z.object({
    recipient: z.string(),
    forMs: z.number(),
    whenFull: z.enum(['reject', 'park']),
  }),
  output: z.object({ sent: z.int(), accepted: z.int() }),
});
