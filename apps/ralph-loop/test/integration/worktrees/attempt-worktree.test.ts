import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { diffText } from '../../../worktrees/diff-text.ts';
import { changedPaths } from '../../../worktrees/matching-paths.ts';
import { openRepository } from '../../../worktrees/repository.ts';
import { dropSnapshot } from '../../../worktrees/snapshot.ts';
import { gitIn, lines, OpenMission, Project, put } from './project.ts';

const TEXT = { subject: 'x' };

describe('an attempt that goes on with the files of another', () => {
  it('finds them as changes of its own: new ones, removed ones, and ignored ones that were added', async () => {
    await using project = new Project({ 'a.txt': 'a\n', 'gone.txt': 'gone\n', '.gitignore': '*.log\n' });
    const mission = await project.mission();
    const first = await mission.attempt('a');
    put(first.path, { 'a.txt': 'b\n', 'gone.txt': null, 'new.txt': 'new\n', 'kept.log': 'kept\n' });
    gitIn(first.path, 'add', '--force', 'kept.log');
    const before = await first.snapshot(TEXT);
    await first.discard();
    const second = await mission.attempt('a', { attempt: 2, from: before.start, files: before.commit });
    expect(gitIn(second.path, 'rev-parse', 'HEAD')).toBe(before.start);
    expect(await second.liveChanges()).toEqual(['a.txt', 'gone.txt', 'kept.log', 'new.txt']);
    expect((await second.snapshot(TEXT)).tree).toBe(before.tree);
    put(second.path, { 'new.txt': 'newer\n' });
    const { changed } = await second.snapshot(TEXT);
    expect(changed.map(({ path }) => path).sort()).toEqual(['a.txt', 'gone.txt', 'kept.log', 'new.txt']);
  });
});

describe('a snapshot of an attempt', () => {
  it('has changes, new files, deletions, renames, links and modes, as one commit on the start', async () => {
    await using project = new Project({
      'a.txt': lines(),
      'gone.txt': 'gone\n',
      'old name.txt': lines({ 0: 'renamed' }),
      'run.sh': '#!/bin/sh\n',
      'picture.bin': Buffer.from([0, 1, 2]),
      'Case.txt': lines({ 3: 'case' }),
    });
    const mission = await project.mission();
    const attempt = await mission.attempt();
    put(attempt.path, {
      'a.txt': lines({ 2: 'two', 5: 'five' }),
      'gone.txt': null,
      'picture.bin': Buffer.from([0, 1, 2, 3]),
      'new "quoted"\nline.txt': 'n\n',
    });
    renameSync(join(attempt.path, 'old name.txt'), join(attempt.path, 'new name.txt'));
    renameSync(join(attempt.path, 'Case.txt'), join(attempt.path, 'case.txt'));
    chmodSync(join(attempt.path, 'run.sh'), 0o755);
    symlinkSync('/etc/passwd', join(attempt.path, 'link'));
    execFileSync('sh', ['-c', `printf x > "$(printf '${attempt.path}/caf\\351')"`]);
    const { start, commit, changed, isEmpty, head } = await attempt.snapshot(TEXT);
    expect(isEmpty).toBe(false);
    expect(head).toEqual({ commits: 0, head: start });
    const told = new Map(changed.map(({ path, isRepository, ...rest }) => [path, rest]));
    expect(Object.fromEntries(told)).toEqual({
      'a.txt': { kind: 'modified', added: 2, removed: 2 },
      'gone.txt': { kind: 'deleted', added: 0, removed: 1 },
      'new name.txt': { kind: 'renamed', oldPath: 'old name.txt', added: 0, removed: 0 },
      'case.txt': { kind: 'renamed', oldPath: 'Case.txt', added: 0, removed: 0 },
      'picture.bin': { kind: 'modified', added: undefined, removed: undefined },
      'new "quoted"\nline.txt': { kind: 'added', added: 1, removed: 0 },
      'run.sh': { kind: 'modified', added: 0, removed: 0 },
      link: { kind: 'added', added: 1, removed: 0 },
      'caf\ufffd': { kind: 'added', added: 1, removed: 0 },
    });
    expect(project.git('rev-parse', `${commit}^@`)).toBe(start);
    const modes = project.git('ls-tree', commit, 'link', 'run.sh');
    expect(modes).toMatch(/^120000 .*link$/m);
    expect(modes).toMatch(/^100755 .*run\.sh$/m);
    expect(
      await changedPaths(mission.repository, { start, commit }, ['old name.txt', '*.bin', 'case*']),
    ).toEqual(['case.txt', 'old name.txt', 'picture.bin']);
    const text = await diffText(mission.repository, { start, commit });
    expect(text).toContain('Binary files a/picture.bin and b/picture.bin differ');
    expect(text).toContain('+two');
    const cut = await diffText(mission.repository, { start, commit }, { maxBytes: 300 });
    expect(Buffer.byteLength(cut)).toBeLessThanOrEqual(300);
    expect(cut).toMatch(/\n\[the rest of the difference is left away/);
  });

  it('is empty when nothing was changed, and leaves ignored files away', async () => {
    await using project = new Project({ '.gitignore': 'built/\n', a: 'a' });
    const mission = await project.mission();
    const attempt = await mission.attempt();
    put(attempt.path, { 'built/x.js': 'x' });
    expect(await attempt.snapshot(TEXT)).toMatchObject({ isEmpty: true, changed: [] });
  });

  it('has an ignored file that was added all the same, and not one that was taken out of git and ignored', async () => {
    await using project = new Project({ '.gitignore': '*.log\n', 'secret.env': 's', a: 'a' });
    const mission = await project.mission();
    const attempt = await mission.attempt();
    put(attempt.path, { 'kept.log': 'k', 'left.log': 'l', '.gitignore': '*.log\n*.env\n' });
    gitIn(attempt.path, 'add', '-f', 'kept.log');
    gitIn(attempt.path, 'rm', '-q', '--cached', 'secret.env');
    gitIn(attempt.path, 'commit', '-q', '-m', 'Mine');
    const { changed } = await attempt.snapshot(TEXT);
    expect(changed.map(({ path, kind }) => `${kind} ${path}`)).toEqual([
      'modified .gitignore',
      'added kept.log',
      'deleted secret.env',
    ]);
  });

  it('has the commits of the agent in one, whatever branch it is on and whatever it forged', async () => {
    await using project = new Project();
    const mission = await project.mission();
    const attempt = await mission.attempt();
    gitIn(attempt.path, 'checkout', '-q', '-b', 'mine');
    put(attempt.path, { one: '1' });
    gitIn(attempt.path, 'add', '-A');
    gitIn(attempt.path, 'commit', '-q', '-m', 'Mine\n\nOrrery-Task: forged\nOrrery-Run: run-1');
    put(attempt.path, { two: '2' });
    const { start, commit, changed, head } = await attempt.snapshot({
      subject: 'x',
      body: 'Orrery-Task: forged',
    });
    expect(changed.map(({ path }) => path)).toEqual(['one', 'two']);
    expect(head).toMatchObject({ branch: 'mine', commits: 1 });
    expect(project.git('rev-list', `${start}..${commit}`).split('\n')).toEqual([commit]);
    expect(project.git('log', '-1', '--format=%(trailers:key=Orrery-Task,valueonly)', commit).trim()).toBe(
      'a',
    );
  });

  it('is of the files during a merge that was not ended, and on a branch without commits', async () => {
    await using project = new Project();
    const mission = await project.mission();
    const attempt = await mission.attempt();
    gitIn(attempt.path, 'checkout', '-q', '-b', 'one');
    put(attempt.path, { 'a.txt': lines({ 1: 'one' }) });
    gitIn(attempt.path, 'commit', '-qam', 'one');
    gitIn(attempt.path, 'checkout', '-q', '-b', 'two', 'HEAD~1');
    put(attempt.path, { 'a.txt': lines({ 1: 'two' }) });
    gitIn(attempt.path, 'commit', '-qam', 'two');
    expect(() => gitIn(attempt.path, 'merge', 'one')).toThrow();
    put(attempt.path, { 'a.txt': lines({ 1: 'both' }) });
    expect(await attempt.snapshot(TEXT)).toMatchObject({
      changed: [{ path: 'a.txt', kind: 'modified', added: 1, removed: 1 }],
      head: { branch: 'two', commits: 1, unfinished: 'merge' },
    });
    const other = await mission.attempt('b');
    gitIn(other.path, 'checkout', '-q', '--orphan', 'alone');
    put(other.path, { c: 'c' });
    const { changed, head } = await other.snapshot(TEXT);
    expect([changed.map(({ path }) => path), head]).toEqual([['c'], { branch: 'alone', commits: 0 }]);
  });

  it('does not show files as changed that rules of attributes alone would change', async () => {
    await using project = new Project({ 'dos.txt': 'one\r\ntwo\r\n', 'unix.txt': 'one\n' });
    // Kept with the ends of lines that the rule would change.
    project.commit({ '.gitattributes': '*.txt text\n' });
    const blob = project.git('hash-object', '-w', '--no-filters', 'dos.txt');
    project.git('update-index', '--cacheinfo', `100644,${blob},dos.txt`);
    project.git('commit', '-q', '--allow-empty', '-m', 'As it is');
    expect(project.git('ls-files', '--eol', 'dos.txt')).toContain('i/crlf');
    const mission = await project.mission();
    const attempt = await mission.attempt();
    put(attempt.path, { 'unix.txt': 'two\r\n' });
    const { changed, commit } = await attempt.snapshot(TEXT);
    expect(changed.map(({ path }) => path)).toEqual(['unix.txt']);
    expect(project.git('show', `${commit}:unix.txt`)).toBe('two');
    expect(await mission.merge(await mission.changed({ 'unix.txt': 'three\n' }))).toMatchObject({
      kind: 'merged',
    });
    expect(project.git('rev-parse', `${mission.branch.ref}:dos.txt`)).toBe(blob);
  });

  it('sees a change of the same length that was made in the second in which the worktree was', async () => {
    await using project = new Project({ a: 'aaaa' });
    const mission = await project.mission();
    const attempt = await mission.attempt();
    gitIn(attempt.path, 'update-index', '--assume-unchanged', 'a');
    put(attempt.path, { a: 'bbbb' });
    expect((await attempt.snapshot(TEXT)).changed.map(({ path }) => path)).toEqual(['a']);
  });

  it('is kept by a ref until it is dropped, and replaced by a second one', async () => {
    await using project = new Project();
    const mission = await project.mission();
    const attempt = await mission.attempt('x.lock');
    put(attempt.path, { c: 'c' });
    const first = await attempt.snapshot(TEXT);
    put(attempt.path, { c: 'd' });
    const { ref, commit } = await attempt.snapshot(TEXT);
    expect(ref).toBe(first.ref);
    await attempt.discard();
    expect(project.git('rev-parse', ref)).toBe(commit);
    await dropSnapshot(mission.repository, ref);
    expect(project.git('for-each-ref', 'refs/orrery')).toBe('');
  });

  it('is refused when the agent made a repository in it, with commits, without, or around files that it changed', async () => {
    await using project = new Project();
    const mission = await project.mission();
    const nested = async (task: string, make: (path: string) => void): Promise<void> => {
      const attempt = await mission.attempt(task);
      make(attempt.path);
      await expect(attempt.snapshot(TEXT)).rejects.toThrow(
        /repository within the repository, at (lib|src)\/?; .*lost/,
      );
    };
    await nested('a', (path) => {
      put(path, { 'lib/x': 'x' });
      gitIn(path, 'init', '-q', 'lib');
    });
    await nested('b', (path) => {
      put(path, { 'lib/x': 'x' });
      gitIn(path, 'init', '-q', 'lib');
      gitIn(join(path, 'lib'), 'add', '-A');
      gitIn(join(path, 'lib'), 'commit', '-q', '-m', 'x');
    });
    await nested('c', (path) => {
      gitIn(path, 'init', '-q', 'src');
      put(path, { 'src/b.txt': 'changed' });
    });
    await nested('d', (path) => {
      put(path, { 'lib/x': 'x' });
      gitIn(path, 'init', '-q', 'lib');
      gitIn(join(path, 'lib'), 'add', '-A');
      gitIn(join(path, 'lib'), 'commit', '-q', '-m', 'x');
      gitIn(path, 'add', '-A');
      gitIn(path, 'commit', '-q', '-m', 'With it');
    });
  });

  it('is refused when a submodule was changed, and made when it was only fetched', async () => {
    await using other = new Project();
    await using project = new Project();
    project.git('-c', 'protocol.file.allow=always', 'submodule', '--quiet', 'add', other.path, 'sub');
    project.commit({});
    const mission = await project.mission();
    const attempt = await mission.attempt();
    gitIn(attempt.path, '-c', 'protocol.file.allow=always', 'submodule', '--quiet', 'update', '--init');
    put(attempt.path, { c: 'c' });
    expect((await attempt.snapshot(TEXT)).changed.map(({ path }) => path)).toEqual(['c']);
    put(attempt.path, { 'sub/a.txt': 'changed' });
    await expect(attempt.snapshot(TEXT)).rejects.toThrow(/at sub;/);
    gitIn(join(attempt.path, 'sub'), 'commit', '-qam', 'x');
    await expect(attempt.snapshot(TEXT)).rejects.toThrow(/at sub;/);
  });

  it('is refused when the agent removed the worktree or its link, and the files of the user are not taken for it', async () => {
    await using project = new Project();
    const mission = await project.mission();
    const attempt = await mission.attempt();
    rmSync(join(attempt.path, '.git'));
    await expect(attempt.snapshot(TEXT)).rejects.toThrow(/is gone, or no longer bound/);
    expect(await attempt.liveChanges()).toEqual([]);
    rmSync(attempt.path, { recursive: true });
    await expect(attempt.snapshot(TEXT)).rejects.toThrow(/is gone/);
    await attempt.discard();
    expect(project.git('worktree', 'list')).not.toContain('.orrery');
  });
});

describe('the worktree of an attempt', () => {
  it('tells what is changed by now, commits and new files included', async () => {
    await using project = new Project();
    const mission = await project.mission();
    const attempt = await mission.attempt();
    expect(await attempt.liveChanges()).toEqual([]);
    put(attempt.path, { 'a.txt': 'x' });
    gitIn(attempt.path, 'commit', '-qam', 'x');
    put(attempt.path, { 'n/e w': 'x', 'src/b.txt': null });
    expect(await attempt.liveChanges()).toEqual(['a.txt', 'n/e w', 'src/b.txt']);
  });

  it('tells which files of git the agent changed', async () => {
    await using project = new Project();
    const mission = await project.mission();
    const attempt = await mission.attempt();
    const calm = await mission.attempt('b');
    put(attempt.path, { c: 'c' });
    gitIn(attempt.path, 'add', '-A');
    gitIn(attempt.path, 'commit', '-q', '-m', 'x');
    expect(await attempt.tampered()).toEqual([]);
    put(join(project.path, '.git'), { 'hooks/pre-commit': '#!/bin/sh\n' });
    gitIn(attempt.path, 'config', 'core.fsmonitor', '/tmp/evil');
    put(join(project.path, '.git'), { 'info/attributes': '* filter=evil' });
    expect(await attempt.tampered()).toEqual(['config', 'hooks/pre-commit', 'info/attributes']);
    expect(await calm.tampered()).toEqual(['config', 'hooks/pre-commit', 'info/attributes']);
    writeFileSync(join(calm.path, '.git'), 'gitdir: /elsewhere\n');
    expect(await calm.tampered()).toContain('.git');
  });

  it('runs no hook of the repository', async () => {
    await using project = new Project();
    for (const hook of ['post-checkout', 'reference-transaction', 'pre-commit', 'post-index-change']) {
      put(join(project.path, '.git/hooks'), { [hook]: `#!/bin/sh\ntouch "${project.path}/ran-${hook}"\n` });
      chmodSync(join(project.path, '.git/hooks', hook), 0o755);
    }
    const mission = await project.mission();
    await mission.merge(await mission.changed({ c: 'c' }));
    expect(readdirSync(project.path).filter((name) => name.startsWith('ran-'))).toEqual([]);
  });

  it('is removed when it is locked, half gone, or not to be written, and forgets no worktree of the user', async () => {
    await using project = new Project();
    const theirs = join(project.path, '.git/theirs');
    project.git('worktree', 'add', '-q', '--detach', theirs);
    renameSync(theirs, `${theirs}-on-a-disk-that-is-away`);
    const mission = await project.mission();
    const locked = await mission.attempt('locked');
    project.git('worktree', 'lock', locked.path);
    const barred = await mission.attempt('barred');
    mkdirSync(join(barred.path, 'in/in'), { recursive: true });
    writeFileSync(join(barred.path, 'in/in/x'), 'x');
    chmodSync(join(barred.path, 'in/in'), 0o500);
    chmodSync(join(barred.path, 'in'), 0o100);
    const linked = await mission.attempt('linked');
    rmSync(linked.path, { recursive: true });
    symlinkSync(join(project.path, 'src'), linked.path);
    for (const attempt of [locked, barred, linked]) {
      await attempt.discard();
      expect(existsSync(attempt.path)).toBe(false);
    }
    expect(
      project
        .git('worktree', 'list')
        .split('\n')
        .map((line) => line.split(' ')[0]),
    ).toEqual([project.path, theirs]);
    expect(existsSync(join(project.path, 'src/b.txt'))).toBe(true);
    expect(readdirSync(join(project.path, '.orrery/worktrees/spring-clean'))).toEqual(['lock']);
    await mission.attempt('locked');
  });

  it('is not made behind a link that leads out of the repository', async () => {
    await using project = new Project();
    await using other = new Project();
    mkdirSync(join(project.path, '.orrery'));
    symlinkSync(other.path, join(project.path, '.orrery/worktrees'));
    const repository = await openRepository(project.path);
    const mission = new OpenMission(repository, await project.mission());
    await expect(mission.attempt()).rejects.toThrow(/lies behind a link/);
  });

  it('works within a worktree of the user, and within that of another attempt', async () => {
    await using project = new Project();
    const mission = await project.mission();
    const outer = await mission.attempt();
    const repository = await openRepository(outer.path);
    expect([repository.root, repository.commonDir]).toEqual([outer.path, join(project.path, '.git')]);
    const inner = new OpenMission(repository, mission);
    const snapshot = await inner.changed({ c: 'c' }, 'inner');
    expect(snapshot.changed.map(({ path }) => path)).toEqual(['c']);
    expect((await outer.snapshot(TEXT)).isEmpty).toBe(true);
  });
});
