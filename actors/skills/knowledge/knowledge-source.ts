import { z } from 'zod';
import { KnowledgeScope } from './knowledge-document.ts';
import { KnowledgeLayer } from './knowledge-layer.ts';

/**
 * A folder, or a git repository, with files of knowledge. Callers name it, and nothing else of it.
 *
 * - `path`      of the folder, of a repository with or without files beside it.
 * - `folder`    the folder within it that is meant. @default all of it
 * - `tenant`    whose it is. @default the team's own
 * - `layer`, `scope` of files that do not say themselves. @default 'project', ''
 * - `ref`       the branch, tag or commit of a repository. @default 'HEAD'
 * - `isOutside` what is in it is written by people who are not trusted: it has the taint `knowledge:<name>`. @default false
 */
export const KnowledgeSource = z.strictObject({
  name: z
    .string()
    .regex(/^[\w.-]{1,100}$/, 'expected 1 to 100 letters, digits, dots, dashes and underscores'),
  path: z.string().min(1),
  folder: z
    .string()
    .regex(/^[^/\\\0]+(?:\/[^/\\\0]+)*$/, 'expected a path with slashes, relative to the source')
    .refine(
      (folder) => folder.split('/').every((part) => part !== '..' && part !== '.'),
      'expected a path within the source',
    )
    .optional(),
  tenant: z.string().default(''),
  layer: KnowledgeLayer.default('project'),
  scope: KnowledgeScope.default(''),
  ref: z
    .string()
    .max(250)
    .regex(/^[^-\s\0][^\s\0]*$/, 'expected the name of a branch, tag or commit')
    .optional(),
  isOutside: z.boolean().default(false),
});
export type KnowledgeSource = Readonly<z.infer<typeof KnowledgeSource>>;

/**
 * A file of a source.
 *
 * - `path` with slashes, relative to the source.
 * - `hash` of its text.
 */
export interface SourceFile {
  readonly path: string;
  readonly hash: string;
}

/** Who changed a file last, and when. `commit` and `author` are undefined where nothing says so. */
export interface LastChange {
  readonly atMs: number;
  readonly commit?: string | undefined;
  readonly author?: string | undefined;
}

/** The text of a file; or what is wrong with it, as a sentence. - `hash` where it was changed since it was listed. */
export type FileText = { readonly hash?: string | undefined } & (
  | { readonly text: string; readonly fault?: undefined }
  | { readonly text?: undefined; readonly fault: string }
);

/**
 * A source as it was when it was opened. Its methods reject with the signal's reason when that aborts.
 *
 * - `files`       sorted by path.
 * - `faults`      of files that cannot be read at all.
 * - `commit`      that it is read at; undefined in a folder without git.
 * - `texts`       of files, in their order.
 * - `lastChanges` by path, of as many of these files as it is known of.
 */
export interface OpenSource {
  readonly files: readonly SourceFile[];
  readonly faults: readonly { readonly file: string; readonly message: string }[];
  readonly commit: string | undefined;
  texts(files: readonly SourceFile[], signal: AbortSignal): Promise<FileText[]>;
  lastChanges(paths: ReadonlySet<string>, signal: AbortSignal): Promise<ReadonlyMap<string, LastChange>>;
}

/** How many files a source may have. */
export const MOST_FILES = 20_000;
const MOST_PATH = 500;

/** Whether a path is of Markdown within the folder that is meant, and nothing on it is hidden. */
export const isKnowledgePath = (path: string, folder: string | undefined): boolean =>
  /\.(?:md|markdown)$/i.test(path) &&
  path.length <= MOST_PATH &&
  (folder === undefined || path.startsWith(`${folder}/`)) &&
  !path.split('/').some((part) => part.startsWith('.'));

/** Sorts by paths, wherever it runs. */
export const byPath = (one: { readonly path: string }, other: { readonly path: string }): number =>
  one.path < other.path ? -1 : Number(one.path > other.path);

const UTF8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/** The text of a file's bytes. */
export function textOf(bytes: Uint8Array): FileText {
  try {
    return { text: UTF8.decode(bytes) };
  } catch {
    return { fault: 'it is not in UTF-8' };
  }
}
