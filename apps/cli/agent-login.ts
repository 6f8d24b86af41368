import { statSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { BACKENDS } from 'orrery/coding';

type Environment = Readonly<Record<string, string | undefined>>;

/** The least that a file with credentials has, bytes: an empty list is shorter. */
const LEAST_BYTES = 3;
/** What each program keeps once somebody has logged in. Where the system has a store of secrets, it may be there instead. */
const FILES: Readonly<Record<keyof typeof BACKENDS, (env: Environment, home: string) => string>> = {
  claude: (env, home) => join(env['CLAUDE_CONFIG_DIR'] || join(home, '.claude'), '.credentials.json'),
  codex: (env, home) => join(env['CODEX_HOME'] || join(home, '.codex'), 'auth.json'),
  gemini: (_, home) => join(home, '.gemini', 'oauth_creds.json'),
  opencode: (env, home) =>
    join(env['XDG_DATA_HOME'] || join(home, '.local', 'share'), 'opencode', 'auth.json'),
};
/** Accounts of a cloud are of use to Claude Code only if it is told to use them. */
const OF_CLOUD = /^AWS_/;

/**
 * Where the credentials of a coding agent seem to be, without asking it: the name of a variable, or a file. Undefined if that cannot
 * be told. What they are is neither read nor returned.
 */
export function loginSeen(
  id: keyof typeof BACKENDS,
  env: Environment,
  home: string = homedir(),
): string | undefined {
  const isSet = (name: string): boolean => (env[name] ?? '') !== '';
  const variable = BACKENDS[id].env.find(
    (name) => isSet(name) && (!OF_CLOUD.test(name) || isSet('CLAUDE_CODE_USE_BEDROCK')),
  );
  if (variable !== undefined) return `the variable ${variable}`;
  const file = FILES[id](env, home);
  const size = statSync(file, { throwIfNoEntry: false })?.size ?? 0;
  return size < LEAST_BYTES ? undefined : `the file ${file}`;
}
