import { realpath } from 'node:fs/promises';
import { parse, resolve } from 'node:path';
import { refused } from 'orrery';
import { excludeOwnFiles } from './exclude-own-files.ts';
import { fieldsOf, type GitOptions, type GitOutput, type RunGit, runGit } from './git-runner.ts';

/** The first version of git that has all that is asked of it. */
const OLDEST = [2, 30] as const;

/** Who commits if the user has not said who they are. */
const OWN_IDENTITY = {
  GIT_AUTHOR_NAME: 'Orrery',
  GIT_AUTHOR_EMAIL: 'orrery@localhost',
  GIT_COMMITTER_NAME: 'Orrery',
  GIT_COMMITTER_EMAIL: 'orrery@localhost',
};

/** A git repository that a mission changes. - `root` top level. - `commonDir` what all its worktrees share. */
export class Repository {
  readonly root: string;
  readonly commonDir: string;
  readonly #run: RunGit;
  readonly #identity: Readonly<Record<string, string>>;

  constructor(
    { root, commonDir }: { readonly root: string; readonly commonDir: string },
    run: RunGit,
    identity: Readonly<Record<string, string>>,
  ) {
    this.root = root;
    this.commonDir = commonDir;
    this.#run = run;
    this.#identity = identity;
  }

  /** Runs git in the repository, or in a worktree of it (`path`). */
  git(args: readonly string[], options: Partial<GitOptions> = {}): Promise<GitOutput> {
    return this.#run(args, {
      path: this.root,
      ...options,
      env: { ...this.#identity, ...options.env },
    });
  }

  /** The line that git writes. */
  async line(args: readonly string[], options: Partial<GitOptions> = {}): Promise<string> {
    return lineOf((await this.git(args, options)).bytes);
  }

  /** What git writes with `-z`. */
  async fields(args: readonly string[], options: Partial<GitOptions> = {}): Promise<string[]> {
    return fieldsOf((await this.git(args, options)).bytes);
  }

  /** The commit of that name; undefined when there is none. */
  async commitOf(name: string, options: Partial<GitOptions> = {}): Promise<string | undefined> {
    const verified = ['rev-parse', '--quiet', '--verify', '--end-of-options', `${name}^{commit}`];
    const found = await this.git(verified, { ...options, codes: [0, 1, 128] });
    return found.code === 0 ? lineOf(found.bytes) : undefined;
  }
}

/**
 * Opens the repository that a folder is in, and keeps `.orrery/` out of what git shows there. Throws REFUSED with what is to be
 * done when it is none, has no commit or no working tree, or git is too old.
 */
export async function openRepository(
  root: string,
  { run = runGit, signal }: { readonly run?: RunGit; readonly signal?: AbortSignal } = {},
): Promise<Repository> {
  const path = resolve(root);
  const ask = (args: readonly string[], codes = [0]): Promise<GitOutput> =>
    run(args, { path, codes, signal });
  await refuseOldGit((args) => run(args, { path: parse(path).root, signal }));
  const facts = ['--is-bare-repository', '--is-inside-work-tree', '--git-common-dir'];
  const said = await ask(['rev-parse', ...facts]).catch((error) => {
    throw refused(
      `${path} is not a git repository that can be used (${error.message}); run "git init" there and commit, or name another folder`,
    );
  });
  const [isBare, isInside, ...common] = lineOf(said.bytes).split('\n');
  if (isBare === 'true')
    throw refused(`${path} is a bare repository, which has no files to work on; name a clone of it`);
  if (isInside !== 'true') throw refused(`${path} is inside of git's own folder; name the folder above it`);
  const top = await realpath(lineOf((await ask(['rev-parse', '--show-toplevel'])).bytes));
  const commonDir = await realpath(resolve(path, common.join('\n')));
  const repository = new Repository({ root: top, commonDir }, run, await identity(ask));
  if ((await repository.commitOf('HEAD', { signal })) === undefined)
    throw refused(
      `${top} has no commit to begin at; commit what there is first ("git commit --allow-empty" will do)`,
    );
  await excludeOwnFiles(repository, signal);
  return repository;
}

/** What git wrote, without the end of its last line: a path may have others. */
const lineOf = (bytes: Buffer): string => bytes.toString('utf8').replace(/\n$/, '');

type Ask = (args: readonly string[], codes?: number[]) => Promise<GitOutput>;

async function refuseOldGit(ask: Ask): Promise<void> {
  const said = lineOf((await ask(['version'])).bytes);
  const [major = 0, minor = 0] = (/(\d+)\.(\d+)/.exec(said)?.slice(1) ?? []).map(Number);
  if (major > OLDEST[0] || (major === OLDEST[0] && minor >= OLDEST[1])) return;
  throw refused(`git is "${said}", expected version ${OLDEST.join('.')} or later; install a newer one`);
}

async function identity(ask: Ask): Promise<Readonly<Record<string, string>>> {
  const { GIT_COMMITTER_NAME, GIT_COMMITTER_EMAIL } = process.env;
  const { bytes } = await ask(
    ['config', '--null', '--name-only', '--get-regexp', '^user\\.(name|email)$'],
    [0, 1],
  );
  const known = fieldsOf(bytes);
  const hasName = GIT_COMMITTER_NAME !== undefined || known.includes('user.name');
  const hasEmail = GIT_COMMITTER_EMAIL !== undefined || known.includes('user.email');
  return hasName && hasEmail ? {} : OWN_IDENTITY;
}
