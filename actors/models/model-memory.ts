import { z } from 'zod';
import { MemoryLayer } from '../skills/memory/memory-layer.ts';
import { StoredTag } from '../skills/skill-text.ts';

/**
 * What a model is told of what is remembered, before it is asked.
 *
 * - `agent`     who remembers. @default 'memory'
 * - `layers`    of which layers. @default all that the caller may see
 * - `tags`      only what has all of these.
 * - `most`      how many memories. @default 5
 * - `minScore`  less relevant ones are left out. @default 0
 * - `maxChars`  of what they say, all together; what is longer is cut. @default 4_000
 * - `timeoutMs` how long it is waited for; never longer than a quarter of the time that there is. @default 10_000
 */
export const ModelMemory = z.strictObject({
  agent: z.string().min(1).max(256).default('memory'),
  layers: z.array(MemoryLayer).min(1).max(MemoryLayer.options.length).readonly().optional(),
  tags: z.array(StoredTag).min(1).max(32).readonly().optional(),
  most: z.int().min(1).max(50).default(5),
  minScore: z.number().min(0).max(2).default(0),
  maxChars: z.int().min(100).max(1e6).default(4_000),
  timeoutMs: z.int().positive().max(1e9).default(10_000),
});
export type ModelMemory = z.input<typeof ModelMemory>;
