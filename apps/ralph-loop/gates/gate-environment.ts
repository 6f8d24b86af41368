import { programEnv } from 'orrery/coding';

/** What npm says of the project that Orrery was started in, and a test runner of its own run. Gates are about another folder. */
const OF_THIS_RUN =
  /^(INIT_CWD|OLDPWD|npm_(package|lifecycle)_.*|npm_config_local_prefix|npm_command|NODE_TEST_CONTEXT|VITEST.*|TEST|JEST_WORKER_ID|NODE_CHANNEL_.*)$/;
/** Ways to the accounts of providers, whatever their variables are called. */
const OF_PROVIDERS = /^(AWS|AZURE|ARM|GOOGLE|GCP|GCLOUD|CLOUDSDK|GH|GITHUB|GITLAB|OPENAI|ANTHROPIC|GEMINI)_/i;

/**
 * The environment of a gate: the user's without what looks like a secret or leads to the account of a provider, for it runs code that
 * an agent has written. `CI` is `true`, so that test runners end and ask nothing.
 *
 * - `passEnv` names of variables that it gets all the same.
 */
export function gateEnvironment(
  own: Readonly<Record<string, string | undefined>>,
  { cwd, passEnv = [] }: { readonly cwd: string; readonly passEnv?: readonly string[] | undefined },
): Record<string, string> {
  const given = Object.entries(programEnv(own, passEnv)).filter(
    ([name]) => passEnv.includes(name) || !(OF_THIS_RUN.test(name) || OF_PROVIDERS.test(name)),
  );
  return { ...Object.fromEntries(given), CI: 'true', PWD: cwd };
}
