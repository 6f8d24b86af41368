import { moduleInvalid, reasonOf } from '../protocol/errors.ts';
import { parseOptions } from '../protocol/parse-options.ts';
import { AgentDefinition } from './agent-definition.ts';
import { AgentOptions } from './agent-options.ts';

/** The agent that a module exports. Fails with MODULE_INVALID, naming the module and why it cannot be used. */
export async function importAgent(module: string): Promise<AgentDefinition<unknown>> {
  let exported: Record<string, unknown>;
  try {
    exported = (await import(module)) as Record<string, unknown>;
  } catch (error) {
    throw moduleInvalid(module, `importing it failed: ${reasonOf(error)}`, error);
  }
  const definitions = Object.values(exported).filter(isDefinition);
  if (definitions.length === 0) throw moduleInvalid(module, 'it exports no agent made by defineAgent');
  if (new Set(definitions).size > 1) throw moduleInvalid(module, 'it exports more than one agent');
  const definition = definitions[0] as AgentDefinition<unknown>;
  try {
    parseOptions(AgentOptions, definition.options, 'agent'); // Another copy of the package may have looked less closely.
  } catch (error) {
    throw moduleInvalid(module, reasonOf(error), error);
  }
  return definition;
}

/** An agent made by another copy of the package is one too. */
const isDefinition = (value: unknown): value is AgentDefinition<unknown> =>
  value instanceof AgentDefinition ||
  (typeof value === 'object' &&
    value !== null &&
    value.constructor?.name === 'AgentDefinition' &&
    'handlers' in value);
