import type { GitObject } from './object.ts';

/** A commit. `subject` is the first line of its message; `atMs` is when it was committed, Unix milliseconds. */
export interface Commit {
  readonly name: string;
  readonly tree: string;
  readonly parents: readonly string[];
  readonly atMs: number;
  readonly subject: string;
}

export function parseCommit(name: string, { type, data }: GitObject): Commit | undefined {
  if (type !== 'commit') return undefined;
  const text = data.toString('utf8');
  const end = text.indexOf('\n\n');
  const head = end === -1 ? text : text.slice(0, end);
  const tree = /^tree ([0-9a-f]{40})$/m.exec(head)?.[1];
  if (tree === undefined) return undefined;
  return {
    name,
    tree,
    parents: [...head.matchAll(/^parent ([0-9a-f]{40})$/gm)].map(([, parent]) => parent as string),
    atMs: 1000 * Number(/^committer .*> (\d+) [+-]\d+$/m.exec(head)?.[1] ?? 0),
    subject: (end === -1 ? '' : text.slice(end + 2)).trimStart().split('\n', 1)[0] ?? '',
  };
}
