import { matchesGlob, posix } from 'node:path';
import { listFiles } from '../list-files.ts';
import { readSource } from '../read-source.ts';

/** A repository with more than this is checked in part, and says so. */
const MAX_PROJECTS = 200;
/** Without a configuration at the root or in workspaces, how many folders down one is looked for. */
const MAX_DEPTH = 3;
const ASIDE = /(^|\/)(tests?|__tests__|fixtures?|examples?|templates?)\//;

export type NoteTaker = (kind: string, reason: string, file?: string) => void;

/** The tsconfig.json files to check, in order: the root's, the workspaces'; failing these, those of nearby folders. */
export function findProjects(root: string, note: NoteTaker): string[] {
  const all: string[] = [];
  let files = 0;
  for (const { path } of listFiles(root, { note })) {
    files += 1;
    if (posix.basename(path) === 'tsconfig.json') all.push(path);
  }
  if (files === 0) note('empty', 'there is no file to look at');
  const patterns = workspacePatterns(root);
  const declared = all.filter(
    (path) => path === 'tsconfig.json' || isWorkspace(posix.dirname(path), patterns),
  );
  const nearby = all.filter((path) => path.split('/').length <= MAX_DEPTH + 1 && !ASIDE.test(path));
  const chosen = declared.length > 0 ? declared : nearby;
  if (chosen.length === 0 && files > 0)
    note('no-tsconfig', 'there is no tsconfig.json, so no types were checked');
  if (chosen.length > MAX_PROJECTS) {
    note(
      'project-limit',
      `${chosen.length - MAX_PROJECTS} more projects were not checked`,
      chosen[MAX_PROJECTS],
    );
  }
  // The root's first, then by path.
  return chosen
    .sort((a, b) => a.split('/').length - b.split('/').length || (a < b ? -1 : 1))
    .slice(0, MAX_PROJECTS);
}

function isWorkspace(folder: string, patterns: readonly string[]): boolean {
  const matches = (pattern: string): boolean =>
    matchesGlob(folder, pattern.replace(/^\.\//, '').replace(/\/$/, ''));
  const [without, having] = [
    patterns.filter((one) => one.startsWith('!')),
    patterns.filter((one) => !one.startsWith('!')),
  ];
  return having.some(matches) && !without.some((pattern) => matches(pattern.slice(1)));
}

function workspacePatterns(root: string): string[] {
  return [
    ...npmWorkspaces(textOf(root, 'package.json')),
    ...pnpmWorkspaces(textOf(root, 'pnpm-workspace.yaml')),
  ];
}

function npmWorkspaces(text: string): string[] {
  try {
    const { workspaces } = JSON.parse(text) as { workspaces?: unknown };
    const listed = Array.isArray(workspaces)
      ? workspaces
      : (workspaces as { packages?: unknown } | undefined)?.packages;
    return Array.isArray(listed) ? listed.filter((one) => typeof one === 'string') : [];
  } catch {
    // No package.json, or one that npm could not read either: no workspaces.
    return [];
  }
}

/** The list under `packages:`; the rest of the file is of no interest. */
function pnpmWorkspaces(text: string): string[] {
  const list = /^packages:\s*\n((?:[ \t]*(?:-[^\n]*|#[^\n]*)?\n?)*)/m.exec(`${text}\n`)?.[1] ?? '';
  return [...list.matchAll(/^\s*-\s*['"]?([^'"\n#]+?)['"]?\s*(?:#.*)?$/gm)].map(
    ([, pattern]) => pattern as string,
  );
}

function textOf(root: string, file: string): string {
  const read = readSource(root, file);
  return 'source' in read ? read.source.text : '';
}
