import { existsSync } from 'node:fs';
import { basename } from 'node:path';
import { fileURLToPath } from 'node:url';
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
    throw notImported(module, error);
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

/** A file that is not there is named, and nothing else: Node's stack has no place in it. */
function notImported(module: string, error: unknown): Error {
  const missing = missingFile(error);
  const beside = missing === undefined ? undefined : twinOf(missing);
  const hint = beside === undefined ? '' : `; ${beside} lies beside it: is that the one to name?`;
  return missing !== undefined && missing === new URL(module).href
    ? moduleInvalid(module, `there is no such file${hint}`)
    : moduleInvalid(module, `importing it failed: ${reasonOf(error)}${hint}`, error);
}

/** The file that Node did not find, as a URL. */
function missingFile(error: unknown): string | undefined {
  const { code, url } = (error ?? {}) as Readonly<Record<string, unknown>>;
  return code === 'ERR_MODULE_NOT_FOUND' && typeof url === 'string' && url.startsWith('file:')
    ? url
    : undefined;
}

/** A compiler writes .js where the source says .ts. */
const TWINS: Readonly<Record<string, string>> = {
  '.ts': '.js',
  '.mts': '.mjs',
  '.js': '.ts',
  '.mjs': '.mts',
};

/** The name of the file beside it that is called the same up to JavaScript or TypeScript. */
function twinOf(url: string): string | undefined {
  const file = fileURLToPath(url);
  const ending = /\.m?[jt]s$/.exec(file)?.[0] ?? '';
  const twin = `${file.slice(0, file.length - ending.length)}${TWINS[ending]}`;
  return ending !== '' && existsSync(twin) ? basename(twin) : undefined;
}

/** An agent made by another copy of the package is one too. */
const isDefinition = (value: unknown): value is AgentDefinition<unknown> =>
  value instanceof AgentDefinition ||
  (typeof value === 'object' &&
    value !== null &&
    value.constructor?.name === 'AgentDefinition' &&
    'handlers' in value);
