import { z } from 'zod';
import { SkillOptions } from '../skill-options.ts';
import { KnowledgeSource } from './knowledge-source.ts';

/** - `knowledge.sources` folders and repositories that callers may have read, by their names. @default none */
export const KnowledgeOptions = SkillOptions.extend({
  knowledge: z
    .strictObject({
      sources: z
        .array(KnowledgeSource)
        .max(100)
        .readonly()
        .superRefine((sources, ctx) => {
          const known = new Set<string>();
          for (const [at, { name, tenant }] of sources.entries()) {
            const key = JSON.stringify([tenant, name]);
            if (known.has(key))
              ctx.addIssue({
                code: 'custom',
                path: [at, 'name'],
                input: name,
                message: 'expected a name that no other source of the tenant has',
              });
            known.add(key);
          }
        })
        .default([]),
    })
    .default({ sources: [] }),
});
export type KnowledgeOptions = z.input<typeof KnowledgeOptions>;
