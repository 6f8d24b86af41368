import { z } from 'zod';

/** How many calls may be under way at a time through an agent that is a door to what runs elsewhere. @default 16 */
export const DoorConcurrency = z.int().min(1).max(1_000).default(16);
