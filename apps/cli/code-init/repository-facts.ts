import { resolve } from 'node:path';
import { firstLine, printable } from '@orrery/ralph-loop';
import type { Clock } from 'orrery';
import { askProgram, type ShortAnswer } from '../short-program.ts';
import { UsageError } from '../usage-error.ts';
import type { CommittedFiles } from './toolchain.ts';

/** Files whose text is read, at the top of the repository. */
const READ =
  /^(?:package|composer|deno)\.jsonc?$|^(?:pyproject|Pipfile|Cargo)(?:\.toml)?$|^requirements[\w-]*\.txt$|^setup\.(?:py|cfg)$|^(?:tox|pytest)\.ini$|^(?:GNUm|m|M)akefile$/;

/**
 * What git says of a repository.
 *
 * - `root`      its top.
 * - `base`      the branch that is checked out, or `HEAD`.
 * - `branches`  names of all branches.
 * - `unsaved`   how many tracked files have changes that are not committed.
 */
export interface RepositoryFacts {
  readonly root: string;
  readonly base: string;
  readonly branches: readonly string[];
  readonly unsaved: number;
  readonly files: CommittedFiles;
}

type Git = (...args: readonly string[]) => Promise<ShortAnswer>;

/** Asks git for what a mission needs to know. Throws UsageError if the folder is in no repository, or there is no commit. */
export async function repositoryFacts(
  folder: string,
  clock: Pick<Clock, 'setTimer'>,
): Promise<RepositoryFacts> {
  const top = await gitIn(resolve(folder), clock)('rev-parse', '--show-toplevel');
  if (top.failure !== undefined) throw new UsageError(`Git cannot be started: ${top.failure}`);
  if (top.code !== 0 || top.output === '')
    throw new UsageError(
      `Folder "${folder}" is in no git repository with files that can be used${whyOf(top)}; run "git init" there, and commit`,
    );
  const root = top.output.replace(/\r?\n$/, '');
  const git = gitIn(root, clock);
  const listed = await git('ls-tree', '-r', '-z', '--full-tree', '--name-only', 'HEAD');
  if (listed.code !== 0)
    throw new UsageError(
      `Folder "${folder}" is in a git repository without a commit; commit what there is first`,
    );
  const [head, branches, status] = await Promise.all([
    git('symbolic-ref', '--quiet', '--short', 'HEAD'),
    git('for-each-ref', '--format=%(refname:lstrip=2)', 'refs/heads'),
    git('status', '--porcelain', '-z', '--untracked-files=no', '--no-renames'),
  ]);
  const paths = new Set(listed.output.split('\0').filter((path) => path !== ''));
  const texts = await textsOf(
    [...paths].filter((path) => READ.test(path)),
    git,
  );
  return {
    root,
    base: head.code === 0 ? head.output.trim() : 'HEAD',
    branches: branches.output.split('\n').filter((name) => name !== ''),
    unsaved: status.output.split('\0').filter((line) => line !== '').length,
    files: { paths, text: (path) => texts.get(path) ?? '' },
  };
}

/** The first line of what git says of its failure. */
function whyOf({ log }: ShortAnswer): string {
  const line = firstLine(log);
  return line === '' ? '' : ` (${printable(line).slice(0, 200)})`;
}

/** Those of the folders that git does not ignore, so that they would be committed with a change. */
export async function notIgnored(
  root: string,
  folders: readonly string[],
  clock: Pick<Clock, 'setTimer'>,
): Promise<readonly string[]> {
  const git = gitIn(root, clock);
  const answers = await Promise.all(folders.map((folder) => git('check-ignore', '--quiet', `${folder}/`)));
  return folders.filter((_, index) => answers[index]?.code === 1);
}

async function textsOf(paths: readonly string[], git: Git): Promise<ReadonlyMap<string, string>> {
  const answers = await Promise.all(paths.map((path) => git('cat-file', 'blob', `HEAD:${path}`)));
  return new Map(
    paths.map((path, index) => [path, answers[index]?.code === 0 ? (answers[index]?.output ?? '') : '']),
  );
}

const gitIn =
  (path: string, clock: Pick<Clock, 'setTimer'>): Git =>
  (...args) =>
    askProgram({ command: 'git', args: ['-C', path, '-c', 'core.fsmonitor=', ...args] }, clock);
