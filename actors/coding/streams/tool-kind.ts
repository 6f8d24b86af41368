import { z } from 'zod';
import type { ToolKind } from '../coding-event.ts';
import { told, toldInLine, toldPaths } from '../coding-text.ts';

/** The tools of the programs by their kinds: names in small letters, without anything between their words. */
const TOOLS: Readonly<Partial<Record<ToolKind, readonly string[]>>> = {
  read: ['read', 'readfile', 'readmanyfiles', 'notebookread', 'ls', 'list', 'listdirectory', 'lsp'],
  search: ['glob', 'grep', 'searchfilecontent', 'grepsearch', 'codesearch', 'toolsearch'],
  edit: ['edit', 'multiedit', 'write', 'notebookedit', 'replace', 'writefile', 'patch', 'applypatch'],
  execute: ['bash', 'bashoutput', 'killshell', 'runshellcommand', 'shell'],
  fetch: ['webfetch', 'websearch', 'googlewebsearch'],
  think: ['todowrite', 'todoread', 'writetodos', 'savememory', 'exitplanmode'],
};

const KINDS: ReadonlyMap<string, ToolKind> = new Map(
  Object.entries(TOOLS).flatMap(([kind, names]) => names.map((name) => [name, kind as ToolKind] as const)),
);

/** What a tool of this name does, in whichever program; `other` for one that nobody knows. */
export const toolKindOf = (name: string): ToolKind =>
  KINDS.get(name.toLowerCase().replaceAll(/[^a-z]/g, '')) ?? 'other';

const PATH_FIELDS = ['file_path', 'filePath', 'notebook_path', 'absolute_path', 'path', 'dir_path'];
const Text = z.string().min(1);
const Texts = z.array(z.unknown());

/** The paths that the input of a tool names. */
export function pathsIn(input: Readonly<Record<string, unknown>>): string[] {
  const listed = Texts.safeParse(input['paths']).data ?? [];
  const all = [...PATH_FIELDS.map((field) => input[field]), ...listed];
  return toldPaths(all.flatMap((path) => Text.safeParse(path).data ?? []));
}

/** What a person reads of a call: the command, or the name with what it is for. */
export function titleOf(name: string, input: Readonly<Record<string, unknown>>): string {
  const said = ['command', 'description', 'pattern', 'query', 'url'].flatMap(
    (field) => Text.safeParse(input[field]).data ?? [],
  )[0];
  const about = said ?? pathsIn(input)[0];
  return toldInLine(about === undefined ? name : `${name}: ${told(about)}`);
}
