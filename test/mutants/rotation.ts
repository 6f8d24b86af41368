import { spawnSync } from 'node:child_process';

/** Part `part`, from 1, of `of` parts. */
export interface Rotation {
  readonly part: number;
  readonly of: number;
}

/**
 * Reads `K/N`, or `N` for the part whose turn it is at this commit. Throws when it is neither.
 *
 * The turn goes on by one with every commit on the way to this one, so N commits in a row see all parts. Where the
 * history is not here (a shallow clone) it is taken from the commit's hash.
 */
export function parseRotation(text: string, commit: () => CommitPlace): Rotation {
  const [, first = '', second] = /^([1-9]\d*)(?:\/([1-9]\d*))?$/.exec(text) ?? [];
  const of = Number(second ?? first);
  const part = second === undefined ? turn(commit(), of) : Number(first);
  if (first === '' || part > of) throw new Error(`--rotate ${text}: expected K/N with K from 1 to N, or N`);
  return { part, of };
}

/** How many commits led to this one, itself included; undefined where that is not known. */
export interface CommitPlace {
  readonly hash: string;
  readonly count: number | undefined;
}

/** Where the commit that is checked out in `root` stands. */
export function commitPlace(root: string): CommitPlace {
  const git = (...args: string[]): string => {
    const { status, stdout, stderr, error } = spawnSync('git', args, { cwd: root, encoding: 'utf8' });
    if (status !== 0) throw new Error(`git ${args.join(' ')}: ${error?.message ?? stderr.trim()}`);
    return stdout.trim();
  };
  const isShallow = git('rev-parse', '--is-shallow-repository') === 'true';
  return {
    hash: git('rev-parse', 'HEAD'),
    count: isShallow ? undefined : Number(git('rev-list', '--count', 'HEAD')),
  };
}

/** Every `of`-th of `items`, beginning with the `part`-th: neighbours, which are often alike, go to different parts. */
export const partOf = <Item>(items: readonly Item[], { part, of }: Rotation): readonly Item[] =>
  items.filter((_item, at) => at % of === part - 1);

const HASH_DIGITS = 8;

const turn = ({ hash, count }: CommitPlace, of: number): number =>
  ((count ?? Number.parseInt(hash.slice(0, HASH_DIGITS), 16)) % of) + 1;
