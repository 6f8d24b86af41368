import { capability } from 'orrery';
import { z } from 'zod';

/** What somebody else's agent may do to its thread. */
export const FAULTS = ['throws', 'hangs', 'loops', 'exits'] as const;

/** Has an agent commit a fault, which it does every time. */
export const commitFault = capability({
  id: 'bench.commit-fault',
  description: 'Commit a fault',
  input: z.object({ fault: z.enum(FAULTS) }),
  output: z.void(),
});
