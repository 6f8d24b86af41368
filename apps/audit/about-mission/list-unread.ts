import { extname } from 'node:path';
import type { EarlierResult, Note } from '@orrery/ralph-loop';
import type { RepositoryFiles } from '../list-repository.ts';
import type { AboutMission } from '../planet.ts';
import type { Tool } from '../tool.ts';

/** Kinds of notes about files that were not read. */
const LEFT_OUT = new Set([
  'too-large',
  'generated',
  'binary',
  'unreadable',
  'symlink',
  'special-file',
  'audit-ignore',
]);
const LISTED = 15;
/** A name that only tools for all files take. */
const OF_NO_KIND = 'a-file.of-no-kind';

/** ANDROMEDA's report: the files that no tool is made for, and those that were left out. */
export function listUnread(
  { files, notes: listing }: RepositoryFiles,
  tools: readonly Pick<Tool, 'takes'>[],
  results: readonly EarlierResult[],
): AboutMission {
  const paths = files.map(({ path }) => path);
  const choosy = tools.filter(({ takes }) => !takes(OF_NO_KIND));
  const untaken = paths.filter((path) => !choosy.some(({ takes }) => takes(path)));
  const left = distinct([...listing, ...results.flatMap(({ notes }) => notes)]);
  const kinds = [...Map.groupBy(untaken, (path) => extname(path) || path.slice(path.lastIndexOf('/') + 1))];
  const byKind = kinds
    .sort(([, a], [, b]) => b.length - a.length)
    .map(([kind, [first = '', ...rest]]) => ({
      kind: 'no-tool',
      file: first,
      reason: `no tool knows ${kind}${rest.length === 0 ? '' : `, nor ${rest.length} more of them`}`,
    }));
  const more = byKind.length - LISTED;
  return {
    summary: `${paths.length - untaken.length} of ${paths.length} files are of a kind that some tool knows; ${left.length === 0 ? 'nothing' : `${left.length} of what there is`} was left out.`,
    notes: [
      ...byKind.slice(0, LISTED),
      ...(more > 0 ? [{ kind: 'no-tool', reason: `${more} more kinds of file` }] : []),
      ...left,
    ],
  };
}

/** Removes repetitions: several tools leave out the same files. */
const distinct = (notes: readonly Note[]): Note[] => [
  ...new Map(
    notes
      .filter(({ kind }) => LEFT_OUT.has(kind))
      .map((note) => [`${note.kind}\0${note.file ?? note.reason}`, note]),
  ).values(),
];
