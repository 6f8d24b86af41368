import { asFrom } from '../typed-paths.ts';
import type { TypedOptions } from '../run-plan.ts';

/** Options that say how a run begins, not what it does. */
const OF_THE_BEGINNING = new Set(['resume', 'anew']);
/** `scheme://user:password@host`. */
const HAS_PASSWORD = /:\/\/[^/@\s]*:[^/@\s]*@/;

/** What is kept of a command line, so that a run can be gone on with from any folder. */
export interface KeptOptions {
  readonly file: string | undefined;
  readonly options: TypedOptions;
  readonly leftOut: readonly string[];
}

/** Keeps what was typed in `folder` after `orrery run`; a value with a password in it is left out. */
export function keptOptions(
  typed: TypedOptions,
  positionals: readonly string[],
  folder: string,
): KeptOptions {
  const placed = asFrom(folder, { command: 'run', options: typed, positionals: [...positionals] });
  const entries = Object.entries(placed.options).filter(([name]) => !OF_THE_BEGINNING.has(name));
  const isSecret = ([, value]: [string, string | true]): boolean =>
    value !== true && HAS_PASSWORD.test(value);
  return {
    file: placed.positionals[0],
    options: Object.fromEntries(entries.filter((entry) => !isSecret(entry))),
    leftOut: entries.filter(isSecret).map(([name]) => name),
  };
}
