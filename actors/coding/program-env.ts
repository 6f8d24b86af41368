import { z } from 'zod';
import { hideSecrets } from '../../runtime/protocol/hide-secrets.ts';

/** The name of a variable of the environment. */
export const VariableName = z.string().regex(/^[A-Za-z_]\w*$/, 'expected a name of a variable');

/** Names of variables that hold secrets, or the way to somebody who has some. */
const SECRET =
  /key|token|secret|passw|passphrase|credential|auth|cookie|session|private|database_url|dsn|connection|webhook|_pat$|^pat_/i;
/** What would lead git to another repository, or tells a program that it runs within itself. */
const OF_OTHERS =
  /^(GIT_(DIR|WORK_TREE|INDEX_FILE|COMMON_DIR|OBJECT_DIRECTORY|ALTERNATE_OBJECT_DIRECTORIES|NAMESPACE|PREFIX)|CLAUDECODE|CLAUDE_CODE_(ENTRYPOINT|SSE_PORT)|OPENCODE_PERMISSION|ORRERY_PROCESS)$/;

/**
 * What a program is given of the variables of this process: those that neither are named nor look like a secret, and those of
 * `names`.
 */
export function programEnv(
  own: Readonly<Record<string, string | undefined>>,
  names: readonly string[],
): Record<string, string> {
  const given = Object.entries(own).filter(
    (variable): variable is [string, string] =>
      variable[1] !== undefined &&
      !OF_OTHERS.test(variable[0]) &&
      (names.includes(variable[0]) || !looksSecret(variable[0], variable[1])),
  );
  return Object.fromEntries(given);
}

/** Says whether a variable looks like a secret, by its name or by its value. */
const looksSecret = (name: string, value: string): boolean =>
  SECRET.test(name) || hideSecrets(value) !== value;

/** The shortest value that is looked for in texts: a shorter one is in any of them. */
const SHORTEST_SECRET = 8;

/**
 * The values of those variables that look like secrets, the longest first. Of one with several lines these are, too: programs print
 * line by line. What has less than 8 characters is left out.
 */
export function secretsIn(env: Readonly<Record<string, string>>): string[] {
  const secrets = Object.entries(env)
    .filter(([name, value]) => looksSecret(name, value))
    .flatMap(([, value]) => [value, ...value.split('\n').map((line) => line.trim())])
    .filter((value) => value.length >= SHORTEST_SECRET);
  return [...new Set(secrets)].sort((one, other) => other.length - one.length);
}
