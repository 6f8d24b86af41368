import { existsSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { BRANCH, gitIn, lines, MISSION, Project, put, RUN } from './project.ts';

const MERGED = '.orrery/worktrees/spring-clean/merged';

describe('merging an attempt', () => {
  it('adds one commit to the branch, and touches nothing of the user', async () => {
    await using project = new Project();
    const mission = await project.mission();
    put(project.path, { 'a.txt': 'being changed', staged: 's', untracked: 'u' });
    project.git('add', 'staged');
    const before = project.own();
    const snapshot = await mission.changed({ 'a.txt': lines({ 1: 'one' }), 'new.txt': 'n' });
    const outcome = await mission.merge(snapshot);
    expect(outcome).toMatchObject({
      kind: 'merged',
      tree: snapshot.tree,
      tip: snapshot.start,
      changedByCheck: [],
    });
    expect(mission.log()).toEqual(['Do a', 'A change']);
    expect(project.own()).toEqual(before);
  });

  it('keeps both changes of two attempts at one file that began at the same commit', async () => {
    await using project = new Project();
    const mission = await project.mission();
    const one = await mission.changed({ 'a.txt': lines({ 1: 'one' }) }, 'one');
    const two = await mission.changed({ 'a.txt': lines({ 8: 'two' }) }, 'two');
    const outcomes = await Promise.all([mission.merge(one, 'one'), mission.merge(two, 'two')]);
    expect(outcomes.map(({ kind }) => kind)).toEqual(['merged', 'merged']);
    expect(mission.file('a.txt')).toBe(lines({ 1: 'one', 8: 'two' }).trimEnd());
  });

  it('follows a file that the branch renamed, and keeps its new name', async () => {
    await using project = new Project();
    const mission = await project.mission();
    const edit = await mission.changed({ 'a.txt': lines({ 1: 'one' }) }, 'edit');
    const move = await mission.changed({ 'a.txt': null, 'moved.txt': lines() }, 'move');
    await mission.merge(move, 'move');
    expect(await mission.merge(edit, 'edit')).toMatchObject({ kind: 'merged' });
    expect(mission.file('moved.txt')).toContain('one');
    expect(gitIn(project.path, 'ls-tree', '--name-only', '-r', BRANCH)).toBe('moved.txt\nsrc/b.txt');
  });

  it('tells the files of a conflict and leaves the branch; an attempt on the new tip fits', async () => {
    await using project = new Project();
    const mission = await project.mission();
    const one = await mission.changed({ 'a.txt': lines({ 1: 'one' }), 'src/b.txt': null }, 'one');
    const two = await mission.changed(
      { 'a.txt': lines({ 1: 'two' }), 'src/b.txt': lines({ 2: 'two' }), 'w w': 'w' },
      'two',
    );
    await mission.merge(one, 'one');
    const tip = project.git('rev-parse', BRANCH);
    expect(await mission.merge(two, 'two')).toEqual({ kind: 'conflict', tip, files: ['a.txt', 'src/b.txt'] });
    expect(project.git('rev-parse', BRANCH)).toBe(tip);
    expect(gitIn(join(project.path, MERGED), 'status', '--porcelain', '--ignored')).toBe('');
    const again = await mission.changed({ 'a.txt': lines({ 1: 'one and two' }) }, 'two');
    expect(await mission.merge(again, 'two')).toMatchObject({ kind: 'merged' });
    expect(mission.file('a.txt')).toContain('one and two');
  });

  it('has nothing to do when nothing was changed, or the branch has it already', async () => {
    await using project = new Project();
    const mission = await project.mission();
    const check = async () => {
      throw new Error('is not asked');
    };
    expect(await mission.merge(await mission.changed({}), 'a', { check })).toMatchObject({ kind: 'empty' });
    const same = { 'a.txt': lines({ 1: 'one' }) };
    const [one, two] = [await mission.changed(same, 'one'), await mission.changed(same, 'two')];
    await mission.merge(one, 'one');
    expect(await mission.merge(two, 'two', { check })).toMatchObject({ kind: 'empty' });
  });

  it('has the files that are checked clean and committed, and no leftovers but ignored ones', async () => {
    await using project = new Project({ '.gitignore': 'packages/\n', 'a.txt': lines() });
    const setups: string[] = [];
    const mission = await project.mission({
      setup: async (path) => {
        setups.push(path);
        put(path, { 'packages/p': 'p', left: 'l' });
      },
    });
    const seen: unknown[] = [];
    const check = async ({ path }: { readonly path: string }) => {
      seen.push([gitIn(path, 'status', '--porcelain'), readdirSync(path).sort()]);
      put(path, { leftover: 'x', 'deep/nested/x': 'x', 'packages/q': 'q' });
      gitIn(join(path, 'deep'), 'init', '-q', 'nested');
      return { isAccepted: true };
    };
    await mission.merge(await mission.changed({ one: '1' }, 'one'), 'one', { check });
    expect(existsSync(join(project.path, MERGED, 'built'))).toBe(false);
    await mission.merge(await mission.changed({ two: '2' }, 'two'), 'two', { check });
    expect(seen).toEqual([
      ['', ['.git', '.gitignore', 'a.txt', 'one', 'packages']],
      ['', ['.git', '.gitignore', 'a.txt', 'one', 'packages', 'two']],
    ]);
    expect(setups).toEqual([join(project.path, MERGED)]);
    expect(readdirSync(join(project.path, MERGED, 'packages'))).toEqual(['p', 'q']);
  });

  it('removes ignored files as well when they are not to be kept', async () => {
    await using project = new Project({ '.gitignore': 'built/\n' });
    const mission = await project.mission({ keepIgnored: false });
    const seen: boolean[] = [];
    const check = async ({ path }: { readonly path: string }) => {
      seen.push(existsSync(join(path, 'built')));
      put(path, { 'built/x': 'x' });
      return { isAccepted: true };
    };
    await mission.merge(await mission.changed({ one: '1' }, 'one'), 'one', { check });
    expect(existsSync(join(project.path, MERGED, 'built'))).toBe(false);
    await mission.merge(await mission.changed({ two: '2' }, 'two'), 'two', { check });
    expect(seen).toEqual([false, false]);
  });

  it('is refused by the check, with what it says, and the next one does not see it', async () => {
    await using project = new Project();
    const mission = await project.mission();
    const tip = project.git('rev-parse', BRANCH);
    const request = {
      snapshot: await mission.changed({ one: '1' }),
      text: { subject: 'x' },
      trailers: { mission: MISSION, task: 'a', attempt: 1, run: RUN },
      check: async () => ({ isAccepted: false, exitCode: 3 }),
    };
    const outcome = await mission.queue.merge(request);
    const commit = 'commit' in outcome ? outcome.commit : '';
    expect(outcome).toEqual({
      kind: 'refused',
      tip,
      commit,
      verdict: { isAccepted: false, exitCode: 3 },
      changedByCheck: [],
    });
    // What was refused, for the next attempt to go on with.
    expect(project.git('show', `${commit}:one`)).toBe('1');
    expect(project.git('rev-parse', `${commit}^`)).toBe(tip);
    expect(project.git('rev-parse', BRANCH)).toBe(tip);
    await mission.merge(await mission.changed({ two: '2' }, 'two'), 'two');
    expect(gitIn(project.path, 'ls-tree', '--name-only', '-r', BRANCH)).toBe('a.txt\nsrc/b.txt\ntwo');
  });

  it('commits what the check was given, though the check changes files, commits and moves branches', async () => {
    await using project = new Project();
    const mission = await project.mission();
    project.git('branch', 'theirs');
    const theirs = project.git('rev-parse', 'theirs');
    const snapshot = await mission.changed({ 'a.txt': lines({ 1: 'one' }) });
    const outcome = await mission.merge(snapshot, 'a', {
      check: async ({ path }) => {
        put(path, { 'a.txt': 'written by a gate', 'src/b.txt': null, more: 'm' });
        gitIn(path, 'add', '-A');
        gitIn(path, 'commit', '-q', '-m', 'By a gate');
        gitIn(path, 'checkout', '-q', 'theirs');
        return { isAccepted: true };
      },
    });
    expect(outcome).toMatchObject({ kind: 'merged', tree: snapshot.tree });
    expect(project.git('rev-parse', `${BRANCH}^{tree}`)).toBe(snapshot.tree);
    await mission.merge(await mission.changed({ two: '2' }, 'two'), 'two');
    expect(project.git('rev-parse', 'theirs')).toBe(theirs);
    expect(mission.log()).toEqual(['Do two', 'Do a', 'A change']);
  });

  it('tells which tracked files the check changed', async () => {
    await using project = new Project();
    const mission = await project.mission();
    const outcome = await mission.merge(await mission.changed({ one: '1' }), 'a', {
      check: async ({ path }) => {
        put(path, { 'a.txt': 'formatted' });
        return { isAccepted: true };
      },
    });
    expect(outcome).toMatchObject({ kind: 'merged', changedByCheck: ['a.txt'] });
    expect(mission.file('a.txt')).toBe(lines().trimEnd());
  });

  it('begins again on the new tip when somebody moves the branch, and gives up when that goes on', async () => {
    await using project = new Project();
    const mission = await project.mission();
    const moveBranch = (name: string): void => {
      const blob = project.git('hash-object', '-w', 'a.txt');
      project.git('read-tree', '--index-output=.git/moved', BRANCH);
      process.env['GIT_INDEX_FILE'] = join(project.path, '.git/moved');
      project.git('update-index', '--add', '--cacheinfo', `100644,${blob},${name}`);
      const tree = project.git('write-tree');
      delete process.env['GIT_INDEX_FILE'];
      project.git('update-ref', BRANCH, project.git('commit-tree', tree, '-p', BRANCH, '-m', name));
    };
    let checks = 0;
    const outcome = await mission.merge(await mission.changed({ one: '1' }), 'a', {
      check: async () => {
        checks += 1;
        if (checks === 1) moveBranch('theirs');
        return { isAccepted: true };
      },
    });
    expect([outcome.kind, checks, mission.log()]).toEqual(['merged', 2, ['Do a', 'theirs', 'A change']]);
    const stubborn = mission.merge(await mission.changed({ two: '2' }, 'two'), 'two', {
      check: async () => {
        checks += 1;
        moveBranch(`theirs-${checks}`);
        return { isAccepted: true };
      },
    });
    await expect(stubborn).rejects.toThrow(/moved by somebody else 5 times while two was merged/);
    expect(mission.log()[0]).toBe('theirs-7');
  });

  it('leaves a branch that the user has checked out meanwhile', async () => {
    await using project = new Project();
    const mission = await project.mission();
    const merged = mission.merge(await mission.changed({ one: '1' }), 'a', {
      check: async () => {
        project.git('checkout', '-q', 'orrery/spring-clean');
        return { isAccepted: true };
      },
    });
    await expect(merged).rejects.toThrow(/orrery\/spring-clean is checked out in/);
    expect(mission.log()).toEqual(['A change']);
  });

  it('goes on after a check that threw, a lock that was left, and a worktree that was destroyed', async () => {
    await using project = new Project();
    const mission = await project.mission();
    const folder = join(project.path, MERGED);
    const one = await mission.changed({ one: '1' }, 'one');
    const check = async ({ path }: { readonly path: string }): Promise<never> => {
      put(path, { 'a.txt': 'x', leftover: 'x' });
      throw new Error('the gate broke');
    };
    await expect(mission.merge(one, 'one', { check })).rejects.toThrow('the gate broke');
    put(join(project.path, '.git/worktrees/merged'), { 'index.lock': '', 'HEAD.lock': '' });
    expect(await mission.merge(one, 'one')).toMatchObject({ kind: 'merged' });
    for (const damage of [
      () => put(folder, { '.git': null }),
      () => put(join(project.path, '.git/worktrees/merged'), { index: 'no index' }),
      () => put(project.path, { '.git/worktrees': null }),
      () => put(project.path, { [MERGED]: null }),
    ]) {
      damage();
      const name = `after-${mission.log().length}`;
      expect(await mission.merge(await mission.changed({ [name]: 'x' }, name), name)).toMatchObject({
        kind: 'merged',
      });
    }
    expect(mission.log()).toHaveLength(6);
  });

  it('F-04: stops when it is aborted, with the branch as it was', async () => {
    await using project = new Project();
    const mission = await project.mission();
    const stop = new AbortController();
    const snapshot = await mission.changed({ one: '1' });
    const check = async () => {
      stop.abort(new Error('cancelled'));
      return { isAccepted: true };
    };
    await expect(mission.merge(snapshot, 'a', { check, signal: stop.signal })).rejects.toThrow('cancelled');
    await expect(mission.merge(snapshot, 'a', { signal: stop.signal })).rejects.toThrow('cancelled');
    expect(mission.log()).toEqual(['A change']);
    expect(await mission.merge(snapshot)).toMatchObject({ kind: 'merged' });
  });

  it('is done in a repository whose files do not keep their rules of attributes', async () => {
    await using project = new Project({ '.gitattributes': '*.txt text eol=crlf\n', 'a.txt': lines() });
    const mission = await project.mission();
    const one = await mission.changed({ 'a.txt': lines({ 1: 'one' }).replaceAll('\n', '\r\n') }, 'one');
    const two = await mission.changed({ 'a.txt': lines({ 8: 'two' }) }, 'two');
    await mission.merge(one, 'one');
    expect(await mission.merge(two, 'two')).toMatchObject({ kind: 'merged', changedByCheck: [] });
    expect(mission.file('a.txt')).toBe(lines({ 1: 'one', 8: 'two' }).trimEnd());
  });

  it('keeps names that are no UTF-8 or have two lines as they are', async () => {
    await using project = new Project();
    const mission = await project.mission();
    const attempt = await mission.attempt();
    mkdirSync(join(attempt.path, 'dir'));
    writeFileSync(Buffer.from(`${attempt.path}/dir/caf\xe9`, 'latin1'), 'x');
    writeFileSync(join(attempt.path, 'two\nlines'), 'x');
    await mission.merge(await attempt.snapshot({ subject: 'x' }));
    expect(project.git('ls-tree', '-r', '--name-only', BRANCH)).toContain(
      '"dir/caf\\351"\nsrc/b.txt\n"two\\nlines"',
    );
  });
});
