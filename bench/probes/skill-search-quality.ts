import { isInstalled, PACKAGES_FOR } from '../../runtime/protocol/optional-packages.ts';
import { type Goal, type Probe, type Reading, Unavailable } from '../measurement.ts';
import type { Plugin } from '../plugin.ts';
import { readLabelledSet } from '../skills/labelled-set.ts';
import { DEPTH } from '../skills/ndcg.ts';
import { measureQuality, METHODS, type Method } from '../skills/quality.ts';

/** Both together are to be better than each alone. */
const BETTER: Goal = { better: 'more', floor: 1 };
const FOUND_BY_MEANING: Goal = { better: 'more', floor: 0.55 };

const NAMES: Readonly<Record<Method, string>> = {
  text: 'text alone',
  vectors: 'vectors alone',
  hybrid: 'both',
};

const KINDS = [
  ['paraphrase', 'paraphrases'],
  ['keyword', 'keyword queries'],
  ['question', 'questions'],
  ['identifier', 'questions by identifier'],
] as const;

/** How well the memory's search ranks what answers a question, on a labelled set of our own. */
const skillSearchQuality: Probe = {
  kind: 'probe',
  name: 'skill-search-quality',
  title: `nDCG@${DEPTH} of the memory's search on a labelled set, with the local embeddings`,
  read: async (): Promise<readonly Reading[]> => {
    if (!PACKAGES_FOR.localEmbeddings.every(isInstalled))
      throw new Unavailable(`not installed: ${PACKAGES_FOR.localEmbeddings.join(', ')}`);
    const set = readLabelledSet();
    const quality = await measureQuality(set);
    const of = (kind: string): number => set.queries.filter((query) => query.kind === kind).length;
    const note = `${set.memories.length} memories`;
    return [
      ...KINDS.flatMap(([kind, name]) =>
        METHODS.map(
          (method): Reading => ({
            name: `${of(kind)} ${name}, ${NAMES[method]}`,
            value: quality[method][kind],
            unit: 'nDCG',
            isExact: true,
            ...(kind === 'paraphrase' && method === 'hybrid' ? { goal: FOUND_BY_MEANING } : {}),
          }),
        ),
      ),
      ...METHODS.map(
        (method): Reading => ({
          name: `mean of paraphrases and keywords, ${NAMES[method]}`,
          value: quality[method].mean,
          unit: 'nDCG',
          isExact: true,
          note,
        }),
      ),
      ...(['text', 'vectors'] as const).map(
        (method): Reading => ({
          name: `mean of both over that of ${NAMES[method]}`,
          value: quality.hybrid.mean / quality[method].mean,
          unit: 'times',
          isExact: true,
          goal: BETTER,
        }),
      ),
    ];
  },
};

export const plugin: Plugin = { measurements: [skillSearchQuality] };
