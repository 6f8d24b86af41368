import { z } from 'zod';

/** How many envelopes an agent may have in hand at a time. */
export const Concurrency = z.int().min(1).max(1_000);

/** The same for an agent that is a proxy for something elsewhere. @default 16 */
export const DoorConcurrency = Concurrency.default(16);
