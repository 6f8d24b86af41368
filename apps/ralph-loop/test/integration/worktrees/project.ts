import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { AttemptWorktree } from '../../../worktrees/attempt-worktree.ts';
import { type CodeBranch, openBranch } from '../../../worktrees/code-branch.ts';
import type { RunGit } from '../../../worktrees/git-runner.ts';
import type { MergeOutcome, MergeRequest, Verdict } from '../../../worktrees/merge-attempt.ts';
import { MergeQueue, type MergeQueueOptions } from '../../../worktrees/merge-queue.ts';
import { MissionLock } from '../../../worktrees/mission-lock.ts';
import { openRepository, type Repository } from '../../../worktrees/repository.ts';
import type { Snapshot } from '../../../worktrees/snapshot.ts';

// Settings of whoever runs the tests are none of theirs.
process.env['GIT_CONFIG_GLOBAL'] = '/dev/null';
process.env['GIT_CONFIG_NOSYSTEM'] = '1';

export const MISSION = 'Spring clean';
export const RUN = 'run-1';
export const BRANCH = 'refs/heads/orrery/spring-clean';

export const trailersOf = (task: string, attempt = 1) => ({ mission: MISSION, task, attempt, run: RUN });

export type Files = Readonly<Record<string, string | Uint8Array | null>>;

/** Writes files into a folder; null removes one. */
export function put(folder: string, files: Files): void {
  for (const [name, text] of Object.entries(files)) {
    const file = join(folder, name);
    if (text === null) rmSync(file, { force: true, recursive: true });
    else {
      mkdirSync(dirname(file), { recursive: true });
      writeFileSync(file, text);
    }
  }
}

/** Runs git as a user, or an agent, does in a folder. */
export const gitIn = (folder: string, ...args: readonly string[]): string =>
  execFileSync('git', ['-c', 'user.name=Ada', '-c', 'user.email=ada@example.org', ...args], {
    cwd: folder,
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'pipe'],
  }).replace(/\n$/, '');

/** Ten lines, of which a few are replaced. */
export const lines = (changes: Readonly<Record<number, string>> = {}): string =>
  Array.from({ length: 10 }, (_, at) => `${changes[at] ?? `line ${at}`}\n`).join('');

/** A repository of a user, with one commit, until it is disposed of. */
export class Project implements AsyncDisposable {
  readonly path = realpathSync(mkdtempSync(join(tmpdir(), 'orrery-worktrees-')));
  readonly #ends: (() => Promise<void>)[] = [];

  constructor(files: Files = { 'a.txt': lines(), 'src/b.txt': lines() }) {
    this.git('init', '-q', '-b', 'main', '.');
    this.commit(files);
  }

  git(...args: readonly string[]): string {
    return gitIn(this.path, ...args);
  }

  commit(files: Files): string {
    put(this.path, files);
    this.git('add', '-A');
    this.git('commit', '-q', '--allow-empty', '-m', 'A change');
    return this.git('rev-parse', 'HEAD');
  }

  /** All of the user's own that no mission may touch. */
  own(): readonly string[] {
    return [
      this.git('status', '--porcelain', '--untracked-files=all'),
      createHash('sha256')
        .update(readFileSync(join(this.path, '.git/index')))
        .digest('hex'),
      readFileSync(join(this.path, '.git/HEAD'), 'utf8'),
      this.git('rev-parse', 'refs/heads/main'),
    ];
  }

  /** Opens a mission on it; its lock is given back at the end. */
  async mission(options: Partial<MergeQueueOptions> & { readonly run?: RunGit } = {}): Promise<OpenMission> {
    const repository = await openRepository(this.path, options.run === undefined ? {} : { run: options.run });
    const lock = await MissionLock.take(repository, MISSION);
    this.#ends.push(() => lock.release());
    const branch = await openBranch(repository, { mission: MISSION });
    const queue = new MergeQueue({ repository, branch, lock, ...options });
    return new OpenMission(repository, { branch, lock, queue });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const end of this.#ends) await end();
    rmSync(this.path, { recursive: true, force: true });
  }
}

interface Opened {
  readonly branch: CodeBranch;
  readonly lock: MissionLock;
  readonly queue: MergeQueue;
}

/** A mission that is carried out in a project. */
export class OpenMission {
  readonly repository: Repository;
  readonly branch: CodeBranch;
  readonly lock: MissionLock;
  readonly queue: MergeQueue;

  constructor(repository: Repository, { branch, lock, queue }: Opened) {
    this.repository = repository;
    this.branch = branch;
    this.lock = lock;
    this.queue = queue;
  }

  attempt(
    task = 'a',
    { attempt = 1, from = this.branch.ref, files }: { attempt?: number; from?: string; files?: string } = {},
  ): Promise<AttemptWorktree> {
    const trailers = trailersOf(task, attempt);
    return AttemptWorktree.create({ repository: this.repository, trailers, from, files });
  }

  /** An attempt that writes files, and its snapshot. */
  async changed(files: Files, task = 'a', from = this.branch.ref): Promise<Snapshot> {
    const attempt = await this.attempt(task, { from });
    put(attempt.path, files);
    const snapshot = await attempt.snapshot({ subject: task });
    await attempt.discard();
    return snapshot;
  }

  merge(
    snapshot: Snapshot,
    task = 'a',
    request: Partial<MergeRequest<Verdict>> = {},
  ): Promise<MergeOutcome<Verdict>> {
    return this.queue.merge({
      snapshot,
      text: { subject: `Do ${task}` },
      trailers: trailersOf(task),
      check: async () => ({ isAccepted: true }),
      ...request,
    });
  }

  /** A file as it is on the branch. */
  file(name: string): string {
    return gitIn(this.repository.root, 'show', `${this.branch.ref}:${name}`);
  }

  log(): string[] {
    return gitIn(this.repository.root, 'log', '--format=%s', this.branch.ref).split('\n');
  }
}
