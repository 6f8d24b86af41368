import { createHash } from 'node:crypto';
import { lstatSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fitName } from '@orrery/ralph-loop';
import { runtimeFolder, stateFolder } from '../own-folder.ts';

type Environment = Readonly<Record<string, string | undefined>>;

/** A run of a mission in a repository. */
export interface RunPlace {
  readonly root: string;
  readonly mission: string;
}

const HASH = 16;
const OTHERS = 0o077;

/** The socket of a run: its name does not grow with the path of the repository, as that of a socket may not be long. */
const socketIn = (folder: string, { root, mission }: RunPlace): string => {
  const hash = createHash('sha256')
    .update(`${root}\0${fitName(mission)}`)
    .digest('hex');
  return join(folder, 'runs', `${hash.slice(0, HASH)}.sock`);
};

/** Where a process listens for orders. */
export const ordersSocket = (run: RunPlace, environment: Environment): string =>
  socketIn(runtimeFolder(environment), run);

/**
 * Where orders may be heard: the other terminal may have another environment. The paths are made, never read from a file of the
 * repository, which could name any socket.
 */
export function ordersSockets(run: RunPlace, environment: Environment): readonly string[] {
  const folders = [runtimeFolder(environment), stateFolder(environment)];
  const uid = process.getuid?.();
  if (uid !== undefined) folders.push(`/run/user/${uid}/orrery`);
  return [...new Set(folders)].map((folder) => socketIn(folder, run)).filter(isThere);
}

const isThere = (path: string): boolean => lstatSync(path, { throwIfNoEntry: false }) !== undefined;

/** Why a socket may not be spoken to, which somebody else has made or can replace; undefined if it may. */
export function foreignSocket(path: string, uid = process.getuid?.()): string | undefined {
  if (uid === undefined) return undefined;
  for (const place of [dirname(path), path]) {
    const status = lstatSync(place);
    if (status.isSymbolicLink()) return `${place} is a link`;
    if (status.uid !== uid) return `${place} is somebody else's`;
  }
  return (lstatSync(dirname(path)).mode & OTHERS) === 0 ? undefined : `others can enter ${dirname(path)}`;
}
