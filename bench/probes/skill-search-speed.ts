import { loadavg } from 'node:os';
import embedLocally from '../../actors/skills/embedding/local-model.offload.ts';
import { HybridIndex } from '../../actors/skills/search/hybrid-index.ts';
import { type Vector, vectorOf } from '../../actors/skills/search/vector.ts';
import { vectorFromBytes, vectorToBytes } from '../../actors/skills/search/vector-bytes.ts';
import type { Goal, Probe, Reading } from '../measurement.ts';
import type { Plugin } from '../plugin.ts';
import { repeatedReading } from '../repeated-reading.ts';
import { readLabelledSet } from '../skills/labelled-set.ts';
import { chanceOf, RandomWords, randomEmbedding } from '../skills/random-memories.ts';
import { quantile } from '../statistics.ts';

const MEMORIES = 100_000;
const VOCABULARY = 30_000;
/** As many as those of the local model. */
const DIMENSIONS = 384;
const WORDS = 24;
const QUERY_WORDS = 6;
const QUERIES = 500;
const ADDED = 2_000;
const LOADS = 3;
const SEED = 7;

const SEARCH: Goal = { better: 'less', target: 3 };
const EMBEDDED_SEARCH: Goal = { better: 'less', target: 18 };
const ADD: Goal = { better: 'less', target: 1 };

/** A memory as it is stored. */
interface Stored {
  readonly text: string;
  readonly bytes: Uint8Array;
}

/** What one tenant's search takes once 100,000 memories are in it, with and without the embedding of the query. */
const skillSearchSpeed: Probe = {
  kind: 'probe',
  name: 'skill-search-speed',
  title: `The memory's search over ${MEMORIES.toLocaleString('en')} memories of one tenant`,
  read: async (): Promise<readonly Reading[]> => {
    const chance = chanceOf(SEED);
    const words = new RandomWords(chance, VOCABULARY);
    const textOf = (): string => words.text(WORDS / 2 + Math.floor(chance() * WORDS));
    const stored = Array.from({ length: MEMORIES }, (): Stored => {
      const bytes = vectorToBytes(vectorOf(randomEmbedding(chance, DIMENSIONS)));
      return { text: textOf(), bytes };
    });
    const loads: number[] = [];
    let index = new HybridIndex();
    for (let load = 0; load < LOADS; load++) {
      const startMs = performance.now();
      index = loaded(stored);
      loads.push(performance.now() - startMs);
    }
    const queries = Array.from({ length: QUERIES }, () => ({
      text: words.text(QUERY_WORDS),
      vector: vectorOf(randomEmbedding(chance, DIMENSIONS)),
    }));
    const byBoth = searches(index, queries);
    const byWords = searches(
      index,
      queries.map(({ text }) => ({ text, vector: undefined })),
    );
    const embedded = await embeddedSearches(index);
    const additions = Array.from({ length: ADDED }, () => ({
      text: textOf(),
      embedding: randomEmbedding(chance, DIMENSIONS),
    }));
    const adds = additions.map(({ text, embedding }) => timeOf(() => index.add(text, vectorOf(embedding))));
    const note = `load average ${loadavg()[0]?.toFixed(1)}`;
    return [
      repeatedReading(byBoth, { name: 'search by words and meaning', unit: 'ms', note }),
      { name: 'the same, 95th percentile', value: p95(byBoth), unit: 'ms', note, goal: SEARCH },
      repeatedReading(byWords, { name: 'search by words alone', unit: 'ms' }),
      { name: 'the same by words alone, 95th percentile', value: p95(byWords), unit: 'ms', goal: SEARCH },
      repeatedReading(embedded, { name: 'embed a question, and search by both', unit: 'ms' }),
      {
        name: 'the same, embedded, 95th percentile',
        value: p95(embedded),
        unit: 'ms',
        goal: EMBEDDED_SEARCH,
      },
      repeatedReading(adds, { name: 'add one, its embedding given', unit: 'ms' }),
      { name: 'add one, 95th percentile', value: p95(adds), unit: 'ms', goal: ADD },
      repeatedReading(loads, { name: 'load all from texts and stored vectors', unit: 'ms' }),
    ];
  },
};

function loaded(stored: readonly Stored[]): HybridIndex {
  const index = new HybridIndex();
  for (const { text, bytes } of stored) index.add(text, vectorFromBytes(bytes));
  return index;
}

function searches(
  index: HybridIndex,
  queries: readonly { readonly text: string; readonly vector: Vector | undefined }[],
): readonly number[] {
  return queries.map((query) => timeOf(() => index.search({ ...query, takes: () => true, most: 10 })));
}

/** Searches for questions of the labelled set, each embedded by the local model. */
async function embeddedSearches(index: HybridIndex): Promise<readonly number[]> {
  const { queries } = readLabelledSet();
  const questions = queries.filter(({ kind }) => kind === 'question');
  // Loads the model.
  await embedLocally(['']);
  const times: number[] = [];
  for (const { text } of questions) {
    const startMs = performance.now();
    const [embedding] = await embedLocally([text]);
    index.search({ text, vector: embedding && vectorOf(embedding), takes: () => true, most: 10 });
    times.push(performance.now() - startMs);
  }
  return times;
}

function timeOf(run: () => unknown): number {
  const startMs = performance.now();
  run();
  return performance.now() - startMs;
}

const p95 = (values: readonly number[]): number =>
  quantile(
    values.toSorted((one, other) => one - other),
    0.95,
  );

export const plugin: Plugin = { measurements: [skillSearchSpeed] };
