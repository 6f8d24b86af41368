import { wrapLanguageModel } from 'ai';
import type { ModelObject } from './model-endpoint.ts';

/** Some endpoints give the id of a call twice; what came of it would then belong to nobody. */
export function distinctIds(): (id: string) => string {
  const seen = new Set<string>();
  return (id) => {
    let distinct = id;
    for (let n = 2; seen.has(distinct); n += 1) distinct = `${id}-${n}`;
    seen.add(distinct);
    return distinct;
  };
}

/** The model, whose whole answers have them: the SDK takes all calls with one id for the first of them. */
export const withDistinctIds = (model: ModelObject): ModelObject =>
  wrapLanguageModel({
    model,
    middleware: {
      specificationVersion: 'v4',
      wrapGenerate: async ({ doGenerate }) => {
        const result = await doGenerate();
        const distinct = distinctIds();
        const content = result.content.map((part) =>
          part.type === 'tool-call' ? { ...part, toolCallId: distinct(part.toolCallId) } : part,
        );
        return { ...result, content };
      },
    },
  });
