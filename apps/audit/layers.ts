import { z } from 'zod';

/**
 * A layer of a repository, and which other layers it may import.
 *
 * - `match`      globs of its files, relative to the repository. A file belongs to the first layer that matches.
 * - `mayImport`  names of other layers. All may import files of no layer. @default none
 */
export const Layer = z.strictObject({
  name: z.string().min(1),
  match: z.array(z.string().min(1)).min(1),
  mayImport: z.array(z.string()).default([]),
});
export type Layer = z.infer<typeof Layer>;

export const Layers = z.array(Layer).superRefine((layers, context) => {
  const all = layers.map(({ name }) => name);
  const names = new Set(all);
  if (names.size < layers.length)
    context.addIssue({ code: 'custom', message: 'Two layers have the same name', input: all });
  for (const [index, { name, mayImport }] of layers.entries()) {
    for (const unknown of mayImport.filter((other) => !names.has(other))) {
      const message = `Layer "${name}" may import "${unknown}", which is no layer`;
      context.addIssue({ code: 'custom', message, path: [index, 'mayImport'], input: mayImport });
    }
  }
});
export type Layers = z.infer<typeof Layers>;
