import { type Dirent, lstatSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { AUDIT_IGNORE, type IgnoreRules, ignoredBy, rulesFor } from './ignore-rules.ts';
import { codeOf, MAX_FILE_BYTES, tooLarge } from '@orrery/ralph-loop/findings/read-source';

/** Folders that are skipped: version control and installed packages. */
const SKIPPED_FOLDERS = new Set(['.git', '.hg', '.svn', '.jj', 'node_modules']);

export interface ListedFile {
  /** Relative to the root, with `/`. */
  readonly path: string;
  readonly bytes: number;
}

export interface ListOptions {
  /** Larger files are left out, with a note. @default 1 MiB */
  readonly maxFileBytes?: number;
  readonly note: (kind: string, reason: string, file?: string) => void;
}

/**
 * Lists the files of a repository in a fixed order, one folder in memory at a time. `root` is a real path.
 *
 * It leaves out what `.gitignore` files name from `root` down, with or without git; symbolic links, which could form a cycle;
 * pipes and devices; and files that are too large or unreadable. Binary files are found when they are read.
 */
export function* listFiles(root: string, options: ListOptions): Generator<ListedFile> {
  const links = { count: 0, first: '' };
  const pending: { folder: string; rules: IgnoreRules }[] = [{ folder: '', rules: [] }];
  for (let next = pending.pop(); next !== undefined; next = pending.pop()) {
    const { folder } = next;
    const entries = entriesOf(root, folder, options);
    const rules = rulesFor(root, folder, new Set(entries.map((entry) => entry.name)), next.rules);
    const subfolders: string[] = [];
    for (const entry of entries) {
      const path = folder + entry.name;
      if (entry.isDirectory() && SKIPPED_FOLDERS.has(entry.name)) continue;
      if (isLeftOut(rules, path, entry.isDirectory(), options)) continue;
      if (entry.isDirectory() && entry.name === 'dist') {
        options.note('built', 'is what a build has made', path);
        continue;
      }
      if (entry.isDirectory()) subfolders.push(`${path}/`);
      else if (entry.isSymbolicLink()) links.first = links.count++ === 0 ? path : links.first;
      else if (!entry.isFile()) options.note('special-file', 'is neither a file nor a folder', path);
      else {
        const listed = sized(root, path, options);
        if (listed !== undefined) yield listed;
      }
    }
    for (const subfolder of subfolders.reverse()) pending.push({ folder: subfolder, rules });
  }
  if (links.count > 0) {
    options.note('symlink', `symbolic links are not followed (${links.count} seen)`, links.first);
  }
}

function entriesOf(root: string, folder: string, { note }: ListOptions): Dirent[] {
  try {
    const entries = readdirSync(join(root, folder), { withFileTypes: true });
    return entries.sort((a, b) => (a.name < b.name ? -1 : 1));
  } catch (error) {
    note('unreadable', `cannot be listed: ${codeOf(error)}`, folder);
    return [];
  }
}

function isLeftOut(rules: IgnoreRules, path: string, isFolder: boolean, { note }: ListOptions): boolean {
  const by = ignoredBy(rules, path, isFolder);
  if (by === AUDIT_IGNORE) note('audit-ignore', `left out by ${AUDIT_IGNORE}`, path);
  return by !== undefined;
}

function sized(root: string, path: string, options: ListOptions): ListedFile | undefined {
  const maxBytes = options.maxFileBytes ?? MAX_FILE_BYTES;
  try {
    const bytes = lstatSync(join(root, path)).size;
    if (bytes <= maxBytes) return { path, bytes };
    options.note('too-large', tooLarge(bytes, maxBytes), path);
  } catch (error) {
    options.note('unreadable', `cannot be read: ${codeOf(error)}`, path);
  }
  return undefined;
}
