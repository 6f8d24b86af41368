import type { ModelTask } from './model-capability.ts';

/** What a model is told before anything else: of its agent, of what is asked for, and what its answer has to be. */
export function instructionsOf(
  instructions: string,
  { instructions: own, schema, capability }: ModelTask,
): string {
  const structured =
    schema === undefined
      ? []
      : [
          `Your last answer is one JSON value, and nothing around it, that fits this JSON Schema (${capability.description}):\n${JSON.stringify(schema)}`,
        ];
  return [instructions, ...(own === undefined ? [] : [own]), ...structured].join('\n\n');
}
