import { z } from 'zod';
import { EmbeddingOptions } from '../embedding/embedding-options.ts';
import { SkillOptions } from '../skill-options.ts';

/**
 * How memories are kept.
 *
 * - `embedding` where the vectors come from by which memories are found by meaning. @default 'auto'
 * - `memories` how many a tenant may have. @default 200_000
 * - `indexed`  how many are held in memory to be found, of all tenants together; who was not asked for lately is read anew.
 *              @default 1_000_000
 */
export const MemoryOptions = SkillOptions.extend({
  embedding: EmbeddingOptions,
  memories: z.int().positive().default(200_000),
  indexed: z.int().positive().default(1_000_000),
});
export type MemoryOptions = z.input<typeof MemoryOptions>;
