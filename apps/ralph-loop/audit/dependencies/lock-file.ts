import { z } from 'zod';
import { parseJson } from '../json/parse-json.ts';
import { readSource } from '../../findings/read-source.ts';

/** A lock of several hundred workspaces; parsed, a larger one would not fit beside everything else. */
export const MAX_LOCK_BYTES = 8 * 1024 * 1024;

export const LOCK_NAMES = ['npm-shrinkwrap.json', 'package-lock.json'] as const;

const Words = z.record(z.string(), z.string()).catch({});

/** An entry of a lock file: a package of the repository, or one that is installed. */
const LockEntry = z.object({
  version: z.string().optional().catch(undefined),
  license: z.string().optional().catch(undefined),
  link: z.boolean().catch(false),
  resolved: z.string().optional().catch(undefined),
  bin: z
    .union([z.string(), z.record(z.string(), z.string())])
    .optional()
    .catch(undefined),
  dependencies: Words,
  devDependencies: Words,
  optionalDependencies: Words,
  peerDependencies: Words,
});
export type LockEntry = z.infer<typeof LockEntry>;

const LockFile = z.object({
  lockfileVersion: z.number(),
  packages: z.record(z.string(), LockEntry).optional(),
});

/** What npm's lock file says, by the places of packages below its folder: `''`, `apps/cli`, `node_modules/zod`. */
export interface Lock {
  readonly file: string;
  /** Of the lock file, '' or ending in '/'. */
  readonly folder: string;
  readonly packages: ReadonlyMap<string, LockEntry>;
}

/** Reads one of npm's lock files, or says why not. */
export function readLock(
  root: string,
  file: string,
): { readonly lock: Lock; readonly bytes: number } | { readonly skipped: string; readonly reason: string } {
  const read = readSource(root, file, MAX_LOCK_BYTES);
  if ('skipped' in read) return read;
  const parsed = parseJson(read.source.text);
  if ('fault' in parsed) return { skipped: 'unparsable', reason: parsed.fault };
  const lock = LockFile.safeParse(parsed.value);
  if (!lock.success) return { skipped: 'unparsable', reason: 'is no lock file of npm' };
  const { packages } = lock.data;
  if (packages === undefined)
    return { skipped: 'old-lock', reason: 'is of a format before npm 7: it was not compared' };
  const folder = file.slice(0, file.lastIndexOf('/') + 1);
  return { lock: { file, folder, packages: new Map(Object.entries(packages)) }, bytes: read.bytes };
}

/** The place of the package that code at `from` gets when it asks for `name`: Node looks from folder to folder up. */
export function placeOf({ packages }: Lock, name: string, from: string): string | undefined {
  for (let folder = from; ; folder = folder.slice(0, Math.max(0, folder.lastIndexOf('/')))) {
    const place = `${folder === '' ? '' : `${folder}/`}node_modules/${name}`;
    const entry = packages.get(place);
    if (entry !== undefined) return entry.link && entry.resolved !== undefined ? entry.resolved : place;
    if (folder === '') return undefined;
  }
}
