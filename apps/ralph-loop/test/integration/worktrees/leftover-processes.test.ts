import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync } from 'node:fs';
import { identityOf } from 'orrery/coding';
import { describe, expect, it } from 'vitest';
import { wallClock } from '../../../loop/wall-clock.ts';
import { GIT_OF, ownMark, settleLeftovers } from '../../../worktrees/leftover-processes.ts';
import { worktreesOf } from '../../../worktrees/linked-worktree.ts';
import { openRepository, type Repository } from '../../../worktrees/repository.ts';
import { Project } from './project.ts';

const SLUG = 'spring-clean';
const settle = (repository: Repository) => settleLeftovers(repository, { slug: SLUG, clock: wallClock });

/** What a process that is dead has left on its git. */
const dead = (): string =>
  JSON.stringify({ ...identityOf(process.pid), pid: 4_194_303, start: '1', mark: undefined });

/** A program that ends when its input does. */
const waits = async (cwd: string, mark?: string): Promise<ChildProcess> => {
  const child = spawn('sh', ['-c', 'echo there; read line'], {
    cwd,
    env: { PATH: process.env['PATH'], ...(mark === undefined ? {} : { [GIT_OF]: mark }) },
  });
  await once(child.stdout, 'data');
  return child;
};

describe.skipIf(!existsSync('/proc/self/environ'))('what a dead process has left at work', () => {
  it('is ended if it is a git of that, and only then', async () => {
    await using project = new Project();
    await using other = new Project();
    const repository = await openRepository(project.path);
    const [orphan, ours, elsewhere] = await Promise.all([
      waits(project.path, dead()),
      waits(project.path, ownMark()),
      waits(other.path, dead()),
    ]);
    const ended = once(orphan, 'exit');
    await settle(repository);
    expect(await ended).toEqual([null, 'SIGTERM']);
    expect([ours, elsewhere].map(({ exitCode, signalCode }) => [exitCode, signalCode])).toEqual([
      [null, null],
      [null, null],
    ]);
    for (const child of [ours, elsewhere]) child.stdin?.end();
  });

  it('is waited for where it is at work in a worktree of the mission', async () => {
    await using project = new Project();
    const repository = await openRepository(project.path);
    const folder = `${worktreesOf(repository, SLUG)}/a-1`;
    mkdirSync(folder, { recursive: true });
    const child = await waits(folder);
    let isSettled = false;
    const settled = settle(repository).then(() => {
      isSettled = true;
    });
    // It looks once at once, and then from time to time.
    await new Promise((resolve) => wallClock.setTimer(100, () => resolve(undefined)));
    expect(isSettled).toBe(false);
    child.stdin?.end();
    await settled;
    expect(child.exitCode ?? (await once(child, 'exit'))[0]).not.toBeNull();
  });
});
