import { z } from 'zod';
import { Milliseconds } from '../../runtime/protocol/milliseconds.ts';

/**
 * - `maxFound` how many other ends of one topic are remembered. @default 256
 * - `searchMs` how long at most between two searches, milliseconds; the first ones follow sooner. @default 60_000
 */
export const topicOptions = {
  maxFound: z.int().positive().default(256),
  searchMs: Milliseconds.default(60_000),
};
