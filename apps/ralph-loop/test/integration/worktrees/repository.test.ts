import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { acceptedTasks, openBranch } from '../../../worktrees/code-branch.ts';
import { commitMessage } from '../../../worktrees/commit-message.ts';
import { runGit } from '../../../worktrees/git-runner.ts';
import { filesMatching } from '../../../worktrees/matching-paths.ts';
import { openRepository } from '../../../worktrees/repository.ts';
import { BRANCH, gitIn, MISSION, Project, RUN, trailersOf } from './project.ts';

const folders: string[] = [];
const emptyFolder = (): string => {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'orrery-worktrees-')));
  folders.push(folder);
  return folder;
};
afterEach(() => {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true });
});

describe('a repository that is opened', () => {
  it('is refused with what is to be done when it is no repository, has no commit, is bare, or git itself', async () => {
    const folder = emptyFolder();
    await expect(openRepository(folder)).rejects.toThrow(/is not a git repository.*git init/);
    await expect(openRepository(join(folder, 'none'))).rejects.toThrow(/is not a git repository/);
    gitIn(folder, 'init', '-q');
    await expect(openRepository(folder)).rejects.toThrow(/no commit to begin at; commit/);
    const bare = emptyFolder();
    gitIn(bare, 'init', '-q', '--bare');
    await expect(openRepository(bare)).rejects.toThrow(/bare repository.*clone/);
    await using project = new Project();
    await expect(openRepository(join(project.path, '.git'))).rejects.toThrow(/inside of git's own folder/);
  });

  it('is refused when git is too old', async () => {
    await using project = new Project();
    const run: typeof runGit = async (args, options) =>
      args[0] === 'version'
        ? { code: 0, bytes: Buffer.from('git version 2.29.3 (Apple)\n'), isCut: false }
        : await runGit(args, options);
    await expect(openRepository(project.path, { run })).rejects.toThrow(/2\.29\.3.*expected version 2\.30/);
  });

  it('is found from a folder in it, behind a link, with HEAD on no branch', async () => {
    await using project = new Project();
    project.git('checkout', '-q', '--detach');
    const link = join(emptyFolder(), 'link');
    symlinkSync(project.path, link);
    const { root, commonDir } = await openRepository(join(link, 'src'));
    expect([root, commonDir]).toEqual([project.path, join(project.path, '.git')]);
    expect((await openBranch(await openRepository(link), { mission: MISSION })).base).toBe(
      project.git('rev-parse', 'HEAD'),
    );
  });

  it('keeps .orrery out of what git shows, once, and after a last line without an end', async () => {
    await using project = new Project();
    const exclude = join(project.path, '.git/info/exclude');
    writeFileSync(exclude, '*.swp');
    await openRepository(project.path);
    await openRepository(project.path);
    mkdirSync(join(project.path, '.orrery/worktrees'), { recursive: true });
    writeFileSync(join(project.path, '.orrery/worktrees/x'), 'x');
    expect(readFileSync(exclude, 'utf8')).toBe('*.swp\n/.orrery/\n');
    expect(project.git('status', '--porcelain')).toBe('');
  });

  it('leaves the exclude file alone when .orrery is ignored already', async () => {
    await using project = new Project({ '.gitignore': '.orrery\n' });
    const exclude = join(project.path, '.git/info/exclude');
    const before = readFileSync(exclude, 'utf8');
    await openRepository(project.path);
    expect(readFileSync(exclude, 'utf8')).toBe(before);
  });

  it('commits as the user if they said who they are, else as Orrery', async () => {
    await using project = new Project();
    const tree = project.git('rev-parse', 'HEAD^{tree}');
    const committer = async (): Promise<string> => {
      const repository = await openRepository(project.path);
      const commit = await repository.line(['commit-tree', tree, '-m', 'x']);
      return project.git('log', '-1', '--format=%an <%ae> %cn <%ce>', commit);
    };
    expect(await committer()).toBe('Orrery <orrery@localhost> Orrery <orrery@localhost>');
    project.git('config', 'user.name', 'Grace');
    project.git('config', 'user.email', 'grace@example.org');
    expect(await committer()).toBe('Grace <grace@example.org> Grace <grace@example.org>');
  });

  it('does not follow variables that a hook of git sets', async () => {
    await using project = new Project();
    await using other = new Project();
    process.env['GIT_DIR'] = join(other.path, '.git');
    process.env['GIT_INDEX_FILE'] = join(other.path, '.git/other');
    try {
      expect((await openRepository(project.path)).root).toBe(project.path);
    } finally {
      delete process.env['GIT_DIR'];
      delete process.env['GIT_INDEX_FILE'];
    }
  });
});

describe('a command of git', () => {
  it('says what git said of its failure, and of an output that is too long', async () => {
    await using project = new Project();
    const options = { path: project.path };
    await expect(runGit(['cat-file', '-p', 'nothing'], options)).rejects.toThrow(
      /git cat-file failed: .*Not a valid object name nothing/,
    );
    await expect(runGit(['log'], { ...options, maxBytes: 10 })).rejects.toThrow(
      /git log wrote more than 10 bytes/,
    );
    const cut = await runGit(['log'], { ...options, maxBytes: 10, mayCut: true });
    expect([cut.isCut, cut.bytes.length]).toEqual([true, 10]);
  });

  it('F-04: ends with its filters when it is aborted, and leaves no lock', async () => {
    await using project = new Project();
    const fifo = join(project.path, '.git/begun');
    const filter = join(project.path, '.git/filter');
    gitIn(project.path, 'config', 'filter.slow.clean', filter);
    writeFileSync(filter, `#!/bin/sh\necho $$ > "${fifo}"\nexec tail -f /dev/null\n`);
    chmodSync(filter, 0o755);
    writeFileSync(join(project.path, '.gitattributes'), '*.slow filter=slow\n');
    writeFileSync(join(project.path, 'x.slow'), 'x');
    const { execFileSync } = await import('node:child_process');
    const { readFile } = await import('node:fs/promises');
    execFileSync('mkfifo', [fifo]);
    const stop = new AbortController();
    const added = runGit(['add', '-A'], { path: project.path, signal: stop.signal });
    const pid = Number(await readFile(fifo, 'utf8'));
    stop.abort(new Error('enough'));
    await expect(added).rejects.toThrow('enough');
    expect(project.git('ls-files', 'x.slow')).toBe('');
    expect(() => readFileSync(join(project.path, '.git/index.lock'))).toThrow(/ENOENT/);
    expect(isRunning(pid)).toBe(false);
  });
});

/** A process that has ended and is not yet noticed by its parent does not run. */
function isRunning(pid: number): boolean {
  try {
    return !/\) [ZX] /.test(readFileSync(`/proc/${pid}/stat`, 'latin1'));
  } catch {
    return false;
  }
}

describe('the branch of a mission', () => {
  it('is made at the base, is kept when it is there, and has a name that git allows', async () => {
    await using project = new Project();
    const repository = await openRepository(project.path);
    const first = project.git('rev-parse', 'HEAD');
    project.commit({ c: 'c' });
    const { ref, base } = await openBranch(repository, { mission: MISSION, base: 'HEAD~1' });
    expect([ref, base, project.git('rev-parse', BRANCH)]).toEqual([BRANCH, first, first]);
    await openBranch(repository, { mission: MISSION });
    expect(project.git('rev-parse', BRANCH)).toBe(first);
    for (const mission of ['../..', 'x.lock', '-rf', 'früh: lauf?', '@{1}', '日本', '///'])
      expect((await openBranch(repository, { mission })).name).toMatch(
        /^orrery\/[\p{L}\p{N}][\p{L}\p{N}._-]*$/u,
      );
  });

  it('is refused when its name is none, its base is no commit, or somebody has it checked out', async () => {
    await using project = new Project();
    const repository = await openRepository(project.path);
    await expect(openBranch(repository, { mission: MISSION, branch: 'a..b' })).rejects.toThrow(
      /"a\.\.b".*git allows/,
    );
    await expect(openBranch(repository, { mission: MISSION, base: '--all' })).rejects.toThrow(
      /"--all".*no commit/,
    );
    await expect(openBranch(repository, { mission: MISSION, branch: 'main' })).rejects.toThrow(
      new RegExp(`main is checked out in ${project.path}, .*check out another`),
    );
    project.git('worktree', 'add', '-q', '-b', 'theirs', join(project.path, 'elsewhere'));
    await expect(openBranch(repository, { mission: MISSION, branch: 'theirs' })).rejects.toThrow(/elsewhere/);
  });

  it('tells the tasks on it, and believes no other commit', async () => {
    await using project = new Project();
    const mission = await project.mission();
    const { repository, branch } = mission;
    await mission.merge(await mission.changed({ x: 'x' }, 'one'), 'one', {
      text: {
        subject: 'Orrery-Task: subject',
        body: 'Fine.\n\nOrrery-Task: forged\r\norrery-run : other\n---\n',
      },
    });
    await mission.merge(await mission.changed({ y: 'y' }, 'two'), 'two');
    const accepted = () => acceptedTasks(repository, branch, { mission: MISSION, run: RUN });
    expect((await accepted()).map(({ task, attempt }) => [task, attempt])).toEqual([
      ['one', 1],
      ['two', 1],
    ]);
    const message = gitIn(project.path, 'log', '-1', '--format=%B', `${BRANCH}~1`);
    expect(message).toContain('> Orrery-Task: forged');
    expect(message.match(/^orrery-task/gim)).toHaveLength(1);
    expect(await acceptedTasks(repository, branch, { mission: MISSION, run: 'another' })).toEqual([]);
    expect(await acceptedTasks(repository, branch, { mission: 'another', run: RUN })).toEqual([]);
    // What came in with a merge is not of the branch itself.
    const tip = project.git('rev-parse', BRANCH);
    const tree = project.git('rev-parse', `${BRANCH}^{tree}`);
    const forged = project.git(
      'commit-tree',
      tree,
      '-p',
      tip,
      '-m',
      commitMessage({ subject: 's' }, trailersOf('side')),
    );
    const joined = project.git('commit-tree', tree, '-p', tip, '-p', forged, '-m', 'Merge');
    project.git('update-ref', BRANCH, joined);
    expect((await accepted()).map(({ task }) => task)).toEqual(['one', 'two']);
  });

  it('tells the files that patterns match at a commit, in the case that they have', async () => {
    await using project = new Project({
      'src/a.ts': '',
      'src/deep/b.ts': '',
      'app/[id].ts': '',
      'README.md': '',
    });
    const repository = await openRepository(project.path);
    const matching = (...patterns: string[]) => filesMatching(repository, 'HEAD', patterns);
    expect(await matching('src')).toEqual(['src/a.ts', 'src/deep/b.ts']);
    expect(await matching('src/*.ts', 'readme.md')).toEqual(['src/a.ts']);
    expect(await matching('**/*.ts')).toEqual(['app/[id].ts', 'src/a.ts', 'src/deep/b.ts']);
    expect(await matching('app/[id].ts')).toEqual(['app/[id].ts']);
    expect(await matching()).toEqual([]);
    await expect(matching('../x')).rejects.toThrow(/"\.\.\/x", expected a path within/);
  });
});
