import { lstat, readdir, realpath } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { invalidOptions, reasonOf, refused } from '../../../runtime/protocol/errors.ts';
import { gitFields, gitText } from '../git-program.ts';
import { readFileWithin } from '../read-file-within.ts';
import { MOST_NAMES, MOST_PROJECT_BYTES, MOST_PROJECT_FILES } from './project-bounds.ts';

/**
 * A project as `knowledge_check` and `governance_drift_check` are given it.
 *
 * - `files`        every file, sorted by path; `content` is absent where it was not read. What is no text has an empty one, and so
 *                  has what is in `.orrery`.
 * - `dependencies` those of every `package.json`; absent where there is none.
 */
export interface ReadProject {
  readonly files: readonly { readonly path: string; readonly content?: string }[];
  readonly dependencies?: readonly { readonly name: string; readonly version: string }[];
}

type ProjectFile = ReadProject['files'][number];

/** - `maxBytes` of all texts together. @default as much as a check takes. - `signal` ends it. */
export interface ReadOptions {
  readonly signal?: AbortSignal;
  readonly maxBytes?: number;
}

/** What a team keeps in a project itself: its rules would break themselves, and its stores are no part of it. */
const OWN = '.orrery/';
/** Folders that hold what others have made. */
const SKIPPED: ReadonlySet<string> = new Set(['.git', '.hg', '.svn', '.jj', 'node_modules']);
const MOST_FILE_BYTES = 1024 * 1024;
const MOST_PATH = 1_000;
const MOST_FIELD = 64 * 1024;
const MANIFEST = /(?:^|\/)package\.json$/;

/**
 * Reads the project in a folder: of a git repository what git does not ignore, else everything. No symbolic link is followed. Texts
 * are read up to `maxBytes` together: manifests, then the smallest. Throws INVALID_OPTIONS where there is no folder, and REFUSED for more
 * files than a check takes.
 */
export async function readProject(
  folder: string,
  { signal = new AbortController().signal, maxBytes = MOST_PROJECT_BYTES }: ReadOptions = {},
): Promise<ReadProject> {
  const root = await realpath(folder).catch((error: unknown) => {
    throw invalidOptions('folder', folder, `a folder: ${reasonOf(error)}`);
  });
  const listed = await sizesOf(root, await pathsOf(root, signal), signal);
  const contents = await contentsOf(root, listed, { signal, maxBytes });
  const files = listed.map(({ path }): ProjectFile => {
    const content = contents.get(path);
    return content === undefined ? { path } : { path, content };
  });
  const dependencies = dependenciesOf(files);
  return dependencies === undefined ? { files } : { files, dependencies };
}

async function pathsOf(root: string, signal: AbortSignal): Promise<readonly string[]> {
  const isGit = await gitText(['rev-parse', '--is-inside-work-tree'], { path: root, signal }).then(
    (text) => text.trim() === 'true',
    () => false,
  );
  signal.throwIfAborted();
  const paths = new Set<string>();
  for await (const path of isGit ? ofGit(root, signal) : within(root, signal)) {
    if (path.length > MOST_PATH || path.split('/').some((part) => SKIPPED.has(part))) continue;
    if (paths.size === MOST_PROJECT_FILES)
      throw refused(`The project has more than ${MOST_PROJECT_FILES} files: too many for one check`);
    paths.add(path);
  }
  return [...paths].sort();
}

async function* ofGit(root: string, signal: AbortSignal): AsyncGenerator<string> {
  const args = ['ls-files', '--cached', '--others', '--exclude-standard', '-z'];
  for await (const field of gitFields(args, { path: root, signal, most: MOST_FIELD }))
    yield field.toString('utf8');
}

async function* within(root: string, signal: AbortSignal, folder = ''): AsyncGenerator<string> {
  signal.throwIfAborted();
  for (const entry of await readdir(join(root, folder), { withFileTypes: true })) {
    const path = folder + entry.name;
    if (!entry.isDirectory()) yield path;
    else if (!SKIPPED.has(entry.name)) yield* within(root, signal, `${path}/`);
  }
}

interface Listed {
  readonly path: string;
  readonly bytes: number;
  /** Whether what it says is of the project. */
  readonly isText: boolean;
}

/** What is there still: a file may be known to git, and be gone. A folder is a repository of its own. */
async function sizesOf(root: string, paths: readonly string[], signal: AbortSignal): Promise<Listed[]> {
  const listed: Listed[] = [];
  for (const path of paths) {
    signal.throwIfAborted();
    const stats = await lstat(join(root, path)).catch(() => undefined);
    if (stats === undefined || stats.isDirectory()) continue;
    listed.push({ path, bytes: stats.size, isText: stats.isFile() && !path.startsWith(OWN) });
  }
  return listed;
}

async function contentsOf(
  root: string,
  listed: readonly Listed[],
  { signal, maxBytes }: Required<ReadOptions>,
): Promise<ReadonlyMap<string, string>> {
  const contents = new Map<string, string>();
  let room = maxBytes;
  for (const { path, bytes, isText } of listed.toSorted(manifestsFirst)) {
    signal.throwIfAborted();
    if (isText && bytes > room) continue;
    const read = isText ? await textOf(root, path) : '';
    if (read === undefined) continue;
    contents.set(path, read);
    room -= Buffer.byteLength(read);
  }
  return contents;
}

/** Without its manifests a project would seem to depend on nothing. */
const manifestsFirst = (one: Listed, other: Listed): number =>
  Number(MANIFEST.test(other.path)) - Number(MANIFEST.test(one.path)) || one.bytes - other.bytes;

/** The text of a file, empty where it is none; undefined where it cannot be read or is too large. */
async function textOf(root: string, path: string): Promise<string | undefined> {
  const { bytes } = await readFileWithin(root, path, MOST_FILE_BYTES).catch(() => NOT_READ);
  if (bytes === undefined) return undefined;
  return bytes.includes(0) ? '' : Buffer.from(bytes).toString('utf8').toWellFormed();
}

const NOT_READ = { bytes: undefined };

const Versions = z.record(z.string().min(1).max(300), z.string().max(300)).optional().catch(undefined);
const Manifest = z.object({
  dependencies: Versions,
  devDependencies: Versions,
  optionalDependencies: Versions,
  peerDependencies: Versions,
});

function dependenciesOf(files: readonly ProjectFile[]): ReadProject['dependencies'] {
  const manifests = files.flatMap(({ path, content }) =>
    content !== undefined && MANIFEST.test(path) ? manifestIn(content) : [],
  );
  if (manifests.length === 0) return undefined;
  const all = manifests.flatMap((manifest) =>
    Object.values(manifest).flatMap((versions = {}) => Object.entries(versions)),
  );
  const distinct = new Map(all.map(([name, version]) => [`${name}@${version}`, { name, version }]));
  if (distinct.size > MOST_NAMES)
    throw refused(`The project has more than ${MOST_NAMES} dependencies: too many for one check`);
  return [...distinct.values()];
}

/** A file of that name that is no manifest names none. */
function manifestIn(content: string): z.infer<typeof Manifest> | [] {
  try {
    return Manifest.parse(JSON.parse(content));
  } catch {
    return [];
  }
}
