import { matchesGlob, posix } from 'node:path';
import { listFiles } from '../list-files.ts';
import { readSource } from '../../findings/read-source.ts';
import { isDeclarationFile } from './declaration-file.ts';

/** A repository with more than this is checked in part, and says so. */
const MAX_PROJECTS = 200;
/** How many folders down a project is looked for that neither the root nor the workspaces name. */
const MAX_DEPTH = 3;
const ASIDE = /(^|\/)(tests?|__tests__|fixtures?|examples?|templates?)\//;

export type NoteTaker = (kind: string, reason: string, file?: string) => void;

/** One tsconfig.json. `isDeclared`: it is the root's or a workspace's, or there is none of these. */
export interface FoundProject {
  readonly path: string;
  readonly isDeclared: boolean;
}

export interface FoundProjects {
  readonly projects: readonly FoundProject[];
  /** The TypeScript files of the repository but for declarations, whether a project has them or not. */
  readonly scripts: readonly string[];
}

/** The tsconfig.json files to check, in order: the root's, the workspaces', those of nearby folders. */
export function findProjects(root: string, note: NoteTaker): FoundProjects {
  const { all, scripts } = listed(root, note);
  const patterns = workspacePatterns(root);
  const declared = all.filter((path) => path === 'tsconfig.json' || isWorkspace(path, patterns));
  const others = all.filter((path) => !declared.includes(path) && isNearby(path, patterns, note));
  const chosen = [...declared.sort(byDepth), ...others.sort(byDepth)];
  if (all.length === 0 && scripts !== undefined)
    note('no-tsconfig', 'there is no tsconfig.json, so no types were checked');
  if (chosen.length > MAX_PROJECTS) {
    note(
      'project-limit',
      `${chosen.length - MAX_PROJECTS} more projects were not checked`,
      chosen[MAX_PROJECTS],
    );
  }
  const isDeclared = (path: string): boolean => declared.length === 0 || declared.includes(path);
  return {
    projects: chosen.slice(0, MAX_PROJECTS).map((path) => ({ path, isDeclared: isDeclared(path) })),
    scripts: scripts ?? [],
  };
}

/** Every tsconfig.json and every TypeScript file; no `scripts` when there is no file of any kind. */
function listed(root: string, note: NoteTaker) {
  const all: string[] = [];
  const scripts: string[] = [];
  let files = 0;
  for (const { path } of listFiles(root, { note })) {
    files += 1;
    if (posix.basename(path) === 'tsconfig.json') all.push(path);
    if (/\.[cm]?tsx?$/.test(path) && !isDeclarationFile(path)) scripts.push(path);
  }
  if (files === 0) note('empty', 'there is no file to look at');
  return { all, scripts: files === 0 ? undefined : scripts };
}

const byDepth = (a: string, b: string): number =>
  a.split('/').length - b.split('/').length || (a < b ? -1 : 1);

function isNearby(path: string, patterns: readonly string[], note: NoteTaker): boolean {
  const reason = whyNotNearby(path, patterns);
  if (reason !== undefined) note('project-aside', `its project was not checked: ${reason}`, path);
  return reason === undefined;
}

function whyNotNearby(path: string, patterns: readonly string[]): string | undefined {
  if (ASIDE.test(path)) return 'it is in a folder for tests, fixtures, examples or templates';
  if (path.split('/').length > MAX_DEPTH + 1) return `it is more than ${MAX_DEPTH} folders down`;
  return isExcluded(posix.dirname(path), patterns) ? 'the workspaces leave it out' : undefined;
}

function isWorkspace(config: string, patterns: readonly string[]): boolean {
  const folder = posix.dirname(config);
  const having = patterns.filter((one) => !one.startsWith('!'));
  return having.some((pattern) => matches(folder, pattern)) && !isExcluded(folder, patterns);
}

const isExcluded = (folder: string, patterns: readonly string[]): boolean =>
  patterns.some((pattern) => pattern.startsWith('!') && matches(folder, pattern.slice(1)));

const matches = (folder: string, pattern: string): boolean =>
  matchesGlob(folder, pattern.replace(/^\.\//, '').replace(/\/$/, ''));

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
