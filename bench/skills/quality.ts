import embedLocally from '../../actors/skills/embedding/local-model.offload.ts';
import { HybridIndex } from '../../actors/skills/search/hybrid-index.ts';
import { type Vector, vectorOf } from '../../actors/skills/search/vector.ts';
import type { LabelledQuery, LabelledSet } from './labelled-set.ts';
import { DEPTH, ndcg } from './ndcg.ts';

/** What a search goes by. */
export const METHODS = ['text', 'vectors', 'hybrid'] as const;
export type Method = (typeof METHODS)[number];

/** The mean nDCG@10 of a method over each kind of question; `mean` is that of paraphrases and keywords. */
export type Quality = Readonly<Record<LabelledQuery['kind'] | 'mean', number>>;

const BATCH = 16;

/** How well each method finds what is wanted, by the index that the memory has. */
export async function measureQuality({
  memories,
  queries,
}: LabelledSet): Promise<Readonly<Record<Method, Quality>>> {
  const index = new HybridIndex();
  const vectors = await vectorsOf(memories.map(({ text }) => text));
  for (const [at, { text }] of memories.entries()) index.add(text, vectors[at]);
  const asked = await vectorsOf(queries.map(({ text }) => text));
  const scoresOf = (method: Method, kind: LabelledQuery['kind']): readonly number[] =>
    queries.flatMap((query, at) => {
      if (query.kind !== kind) return [];
      const hits = index.search({
        text: method === 'vectors' ? '' : query.text,
        vector: method === 'text' ? undefined : asked[at],
        takes: () => true,
        most: DEPTH,
      });
      const found = hits.map(({ place }) => memories[place]?.id ?? '');
      return [ndcg(found, query.relevant)];
    });
  const qualityOf = (method: Method): Quality => {
    const paraphrase = mean(scoresOf(method, 'paraphrase'));
    const keyword = mean(scoresOf(method, 'keyword'));
    const question = mean(scoresOf(method, 'question'));
    const identifier = mean(scoresOf(method, 'identifier'));
    return { paraphrase, keyword, question, identifier, mean: (paraphrase + keyword) / 2 };
  };
  return { text: qualityOf('text'), vectors: qualityOf('vectors'), hybrid: qualityOf('hybrid') };
}

async function vectorsOf(texts: readonly string[]): Promise<readonly Vector[]> {
  const vectors: Vector[] = [];
  for (let from = 0; from < texts.length; from += BATCH)
    vectors.push(...(await embedLocally(texts.slice(from, from + BATCH))).map(vectorOf));
  return vectors;
}

const mean = (values: readonly number[]): number =>
  values.reduce((sum, value) => sum + value, 0) / values.length;
