import { capability, defineAgent } from 'orrery';
import { z } from 'zod';

const Layer = z.strictObject({ name: z.string(), match: z.array(z.string()) });

const layered = capability({
  id: 'layers.check',
  description: 'Takes nothing but layers',
  input: z.strictObject({
    root: z.string(),
    feedback: z.string().optional(),
    layers: z.array(Layer).optional(),
  }),
  output: z.object({ summary: z.string() }),
});

/** Says what it was given, as far as that makes sense. */
export const strict = defineAgent({
  id: 'strict',
  name: 'STRICT',
  version: '1.0.0',
  description: 'Takes what it says that it takes',
  tier: 2,
}).handle(layered, ({ layers = [] }) => ({ summary: layers.map(({ name }) => name).join(', ') || 'none' }));
