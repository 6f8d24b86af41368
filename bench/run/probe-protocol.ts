import { z } from 'zod';
import { Effort, Reading } from '../measurement.ts';

/** Which probe a process is for; its only argument, as JSON. */
export const ProbeOrder = z.strictObject({ plugin: z.url(), probe: z.string(), effort: Effort });
export type ProbeOrder = z.infer<typeof ProbeOrder>;

/** What it prints on its last line, as JSON. */
export const ProbeAnswer = z.union([
  z.strictObject({ readings: z.array(Reading) }),
  z.strictObject({ failure: z.string() }),
  z.strictObject({ unavailable: z.string() }),
]);
export type ProbeAnswer = z.infer<typeof ProbeAnswer>;
