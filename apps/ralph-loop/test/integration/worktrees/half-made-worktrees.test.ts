import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { refuseCheckedOut } from '../../../worktrees/code-branch.ts';
import { type RunGit, runGit } from '../../../worktrees/git-runner.ts';
import { addWorktree, forgetHalfMade, worktreesOf } from '../../../worktrees/linked-worktree.ts';
import { openRepository } from '../../../worktrees/repository.ts';
import { Project } from './project.ts';

/** Leaves what there is of a worktree in the middle of `git worktree add`: git writes `commondir` after it has made it. */
function halfMade(project: Project, name: string, path = join(project.path, '..', name)) {
  const gitDir = join(project.path, '.git/worktrees', name);
  mkdirSync(gitDir, { recursive: true });
  writeFileSync(join(gitDir, 'gitdir'), `${path}/.git\n`);
  writeFileSync(join(gitDir, 'HEAD'), project.git('rev-parse', 'HEAD'));
  writeFileSync(join(gitDir, 'commondir'), '');
  return { gitDir, finish: () => writeFileSync(join(gitDir, 'commondir'), '../..\n') };
}

/** Counts how often git is asked about worktrees, and does something before it is for the nth time. */
function counted(nth = 0, before: () => void = () => undefined): { readonly run: RunGit; asked: number } {
  const counter = {
    asked: 0,
    run: (async (args, options) => {
      if (args[0] === 'worktree') {
        counter.asked += 1;
        if (counter.asked === nth) before();
      }
      return await runGit(args, options);
    }) satisfies RunGit,
  };
  return counter;
}

const added = async (project: Project, run: RunGit) => {
  const repository = await openRepository(project.path, { run });
  return await addWorktree(repository, join(worktreesOf(repository, 'm'), 'a-1'), { commit: 'HEAD' });
};

describe('a worktree that somebody else is making in that moment', () => {
  it('is waited for when one is added', async () => {
    await using project = new Project();
    const { finish } = halfMade(project, 'others');
    const counter = counted(4, finish);
    const { path } = await added(project, counter.run);
    expect([existsSync(join(path, 'a.txt')), counter.asked]).toEqual([true, 4]);
  });

  it('is waited for when it is seen where the branch is checked out', async () => {
    await using project = new Project();
    const { finish } = halfMade(project, 'others');
    const counter = counted(4, finish);
    const repository = await openRepository(project.path, { run: counter.run });
    const branch = { name: 'main', ref: 'refs/heads/main' };
    await expect(refuseCheckedOut(repository, branch)).rejects.toThrow(
      `The branch main is checked out in ${project.path}`,
    );
    expect(counter.asked).toBe(4);
  });

  it('is told with its folder when it is never made whole, and nothing is left of what was to be added', async () => {
    await using project = new Project();
    halfMade(project, 'others');
    const counter = counted();
    await expect(added(project, counter.run)).rejects.toThrow(
      'the folder .git/worktrees/others is only half there (failed to read .git/worktrees/others/commondir: Success)',
    );
    expect(counter.asked).toBe(100);
    expect(existsSync(join(project.path, '.git/worktrees/a-1'))).toBe(false);
  });

  it('is not what any other failure is taken for', async () => {
    await using project = new Project();
    const counter = counted();
    const repository = await openRepository(project.path, { run: counter.run });
    const path = join(worktreesOf(repository, 'm'), 'a-1');
    await expect(addWorktree(repository, path, { commit: 'nothing' })).rejects.toThrow('invalid reference');
    expect(counter.asked).toBe(1);
  });
});

/** Adds and removes worktrees of the repository without a pause, as agents and users do beside a mission, until it is disposed of. */
function others(project: Project, name: string): AsyncDisposable {
  const path = join(project.path, '.git', name);
  const turn = `git worktree add -q --detach ${path} HEAD; git worktree remove --force ${path}`;
  const turns = `for i in $(seq 2000); do test -e ${path}.end || { ${turn}; }; done`;
  const shell = spawn('/bin/sh', ['-c', turns], { cwd: project.path, stdio: 'ignore' });
  const end = once(shell, 'close');
  return {
    [Symbol.asyncDispose]: async () => {
      writeFileSync(`${path}.end`, '');
      await end;
    },
  };
}

describe('a mission beside others who add and remove worktrees', () => {
  it('has each attempt made and merged', async () => {
    await using project = new Project();
    const mission = await project.mission();
    await using _one = others(project, 'one');
    await using _two = others(project, 'two');
    await using _three = others(project, 'three');
    for (let round = 0; round < 8; round += 1)
      await Promise.all(
        ['a', 'b', 'c'].map(async (task) => {
          const snapshot = await mission.changed({ [task]: String(round) }, task);
          expect(await mission.merge(snapshot, task)).toMatchObject({ kind: 'merged' });
        }),
      );
    expect(mission.log()).toHaveLength(25);
  });
});

describe('a worktree of the mission that was left half made', () => {
  it('is forgotten, and those of others and whole ones are not', async () => {
    await using project = new Project();
    const whole = await added(project, runGit);
    const repository = await openRepository(project.path);
    const folder = worktreesOf(repository, 'm');
    const own = halfMade(project, 'b-1', join(folder, 'b-1'));
    const foreign = halfMade(project, 'others');
    await forgetHalfMade(repository, folder);
    expect([own.gitDir, foreign.gitDir, whole.gitDir].map((path) => existsSync(path))).toEqual([
      false,
      true,
      true,
    ]);
  });
});
