import { z } from 'zod';

/** How many envelopes an agent may have in hand at a time: as many as its mailbox holds where nothing else is said. */
export const Concurrency = z.int().min(1).max(1_000);

/** The same of an agent that is a proxy of what runs elsewhere. @default 16 */
export const DoorConcurrency = Concurrency.default(16);
