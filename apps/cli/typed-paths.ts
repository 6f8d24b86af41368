import { dirname, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { CommandLine } from './command-line.ts';
import { COMMANDS, type CommandSpec } from './options.ts';

/** The repository of this file. */
const OWN_REPOSITORY = fileURLToPath(new URL('../../', import.meta.url));

interface Started {
  readonly env: NodeJS.ProcessEnv;
  readonly cwd: string;
}

/** The user's folder, if it is not the working directory: `npm start` changes to the root of this repository. */
export function folderOfUser({ env, cwd }: Started, repository = OWN_REPOSITORY): string | undefined {
  const { INIT_CWD, npm_lifecycle_event: script, npm_package_json: manifest = '' } = env;
  const isAtRoot = resolve(dirname(manifest)) === resolve(repository) && resolve(cwd) === resolve(repository);
  return script === 'start' && isAtRoot ? INIT_CWD : undefined;
}

type Typed = Pick<Extract<CommandLine, { kind: 'command' }>, 'command' | 'options' | 'positionals'>;

/** Names of values, in help, that are paths; `FILES` is several, separated by commas. */
const PATHS = new Set(['FILE', 'FILES', 'FOLDER', 'MISSION', 'PATH']);

/** Resolves the paths in options and arguments against `folder`. */
export function asFrom(folder: string, { command, options, positionals }: Typed) {
  const spec: CommandSpec = COMMANDS[command];
  const placed = (kind: string | undefined, value: string): string => {
    if (kind === undefined || !PATHS.has(kind)) return value;
    const paths = kind === 'FILES' ? value.split(',') : [value];
    return paths.map((path) => (path.trim() === '' ? path : resolve(folder, path.trim()))).join(',');
  };
  return {
    options: Object.fromEntries(
      Object.entries(options).map(([name, value]) => [
        name,
        value === true ? value : placed(spec.options[name]?.value, value),
      ]),
    ),
    positionals: positionals.map((value, at) => placed(spec.arguments[at], value)),
  };
}
