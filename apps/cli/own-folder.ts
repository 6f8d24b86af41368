import { chmodSync, lstatSync, mkdirSync, type Stats } from 'node:fs';
import { homedir } from 'node:os';
import { isAbsolute, join } from 'node:path';

const OWN_FOLDER = 0o700;
const OTHERS = 0o077;

type Environment = Readonly<Record<string, string | undefined>>;

const absolute = (path: string | undefined): string | undefined =>
  path !== undefined && isAbsolute(path) ? path : undefined;

/** The folder of what outlives a restart: `$XDG_STATE_HOME/orrery`, else `~/.local/state/orrery`. */
export const stateFolder = (environment: Environment, home = homedir()): string =>
  join(absolute(environment['XDG_STATE_HOME']) ?? join(home, '.local', 'state'), 'orrery');

/**
 * The folder of what a running command has there: `$XDG_RUNTIME_DIR/orrery`, which the system clears at logout; else the folder
 * of what outlives a restart. Variables with relative paths are ignored.
 */
export function runtimeFolder(environment: Environment, home = homedir()): string {
  const cleared = absolute(environment['XDG_RUNTIME_DIR']);
  return cleared === undefined ? stateFolder(environment, home) : join(cleared, 'orrery');
}

/** Creates the folder for this user only. Throws if it belongs to somebody else. */
export function makeOwn(folder: string): void {
  mkdirSync(folder, { recursive: true, mode: OWN_FOLDER });
  const { uid, mode } = statusOf(folder);
  if (process.getuid !== undefined && uid !== process.getuid()) throw new Error("it is somebody else's");
  if ((mode & OTHERS) !== 0) chmodSync(folder, OWN_FOLDER);
}

function statusOf(folder: string): Stats {
  const status = lstatSync(folder);
  if (!status.isDirectory()) throw new Error('it is no folder');
  return status;
}
