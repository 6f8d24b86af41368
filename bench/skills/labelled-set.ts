import { readFileSync } from 'node:fs';
import { z } from 'zod';
import { namedMemories } from './named-memories.ts';

/** What a team of a company for freight has written down. */
const Memory = z.strictObject({ id: z.string().min(1), text: z.string().min(1) });
export type Memory = z.infer<typeof Memory>;

/**
 * A question, and the memories that answer it.
 *
 * - `kind`      `paraphrase`: in other words than its answers, two of three share none that says anything; `keyword`: in words of
 *               theirs; `question`: as a colleague would ask, about every fourth memory; `identifier`: by the name of something
 *               among others that hardly differ but by their names.
 * - `relevant`  memories by id, each with its grade: 3 answers it, 2 helps much, 1 helps a little.
 */
export const LabelledQuery = z.strictObject({
  kind: z.enum(['paraphrase', 'keyword', 'question', 'identifier']),
  text: z.string().min(1),
  relevant: z
    .record(z.string(), z.int().min(1).max(3))
    .refine((relevant) => [1, 2, 3].includes(Object.keys(relevant).length), 'expected one to three memories'),
});
export type LabelledQuery = z.infer<typeof LabelledQuery>;

/** Memories, and questions about them. The questions were written from what the memories mean, before any search had seen them. */
export interface LabelledSet {
  readonly memories: readonly Memory[];
  readonly queries: readonly LabelledQuery[];
}

/** The set in this folder, what is named in it at the end. Throws where it is not whole: an id is there twice, or is nobody's. */
export function readLabelledSet(): LabelledSet {
  const named = namedMemories();
  const memories = [...z.array(Memory).parse(read('memories.json')), ...named.memories];
  const queries = [...z.array(LabelledQuery).parse(read('queries.json')), ...named.queries];
  const ids = new Set(memories.map(({ id }) => id));
  if (ids.size !== memories.length) throw new Error('memories.json and what is named have an id twice');
  for (const { text, relevant } of queries)
    for (const id of Object.keys(relevant))
      if (!ids.has(id)) throw new Error(`The query "${text}" names ${id}, which is no memory`);
  return { memories, queries };
}

const read = (file: string): unknown => JSON.parse(readFileSync(new URL(file, import.meta.url), 'utf8'));
