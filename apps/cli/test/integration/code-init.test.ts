import { onlyMission, type Mission, readDefaults, readMissionSource, setupGate } from '@orrery/ralph-loop';
import { wallClock } from '@orrery/ralph-loop/wall-clock';
import { execFileSync } from 'node:child_process';
import { chmodSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { gateEnvironment } from '../../../ralph-loop/gates/gate-environment.ts';
import { runGates } from '../../../ralph-loop/gates/run-gates.ts';
import { GitProject } from '../git-project.ts';
import { orreryHere } from '../run-here.ts';

const PATH = process.env['PATH'] ?? '';
const CLAUDE = '#!/bin/sh\necho 1.2.3\n';
const NODE_PROJECT = {
  '.gitignore': 'node_modules/\n',
  'package.json': '{ "name": "shop", "type": "module", "scripts": { "test": "node --test" } }',
  'package-lock.json': '{ "name": "shop", "lockfileVersion": 3, "packages": { "": { "name": "shop" } } }',
  'sum.js': 'export const sum = (a, b) => a + b;\n',
  'sum.test.js':
    "import assert from 'node:assert';\nimport { test } from 'node:test';\nimport { sum } from './sum.js';\ntest('adds', () => assert.equal(sum(1, 2), 3));\n",
};

afterEach(() => {
  process.env['PATH'] = PATH;
});

/** Puts programs with these names on the `PATH`, and no other but git, node and what they need. */
function onPath(project: GitProject, names: readonly string[]): void {
  const bin = join(project.path, '.git', 'bin');
  mkdirSync(bin);
  for (const name of names) {
    writeFileSync(join(bin, name), CLAUDE);
    chmodSync(join(bin, name), 0o755);
  }
  const git = execFileSync('/bin/sh', ['-c', 'command -v git'], { encoding: 'utf8', env: { PATH } }).trim();
  symlinkSync(git, join(bin, 'git'));
  process.env['PATH'] = bin;
}

const init = (backend: string, folder: string) => orreryHere('init', '--backend', backend, folder);

async function missionIn(root: string): Promise<Mission> {
  const defaults = await readDefaults(root);
  return (await readMissionSource(await onlyMission(root), { defaults })).mission;
}

/** Runs setup and gates in a worktree of what is committed, as they are run for an attempt. */
async function verdictOf(project: GitProject, { code }: Mission) {
  const path = join(project.path, '.git', 'worktree');
  project.git('worktree', 'add', '--quiet', '--detach', path, code?.base ?? 'HEAD');
  let marks = 0;
  const setup = code?.setup === undefined ? [] : [setupGate(code.setup)];
  return runGates([...setup, ...(code?.gates ?? [])], {
    cwd: path,
    env: gateEnvironment({ ...process.env, PATH: `${dirname(process.execPath)}:${PATH}` }, { cwd: path }),
    clock: wallClock,
    logFolder: join(project.path, '.git', 'logs-of-gates'),
    newMark: () => `code-init-${process.pid}-${basename(project.path)}-${marks++}`,
  });
}

const isThere = (...words: readonly [string, ...string[]]): boolean => {
  try {
    execFileSync(words[0], words.slice(1), { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
};

describe('orrery init --backend', () => {
  it('writes a mission that is the only one, can be read, and whose gates run', async () => {
    using project = new GitProject(NODE_PROJECT);
    const { code, stdout, stderr } = await init('claude', project.path);
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(stdout).toMatch(/gate test +npm test .*counted/);
    expect(stdout).toMatch(/orrery doctor.*\n.*orrery check.*\n.*orrery run/);
    const mission = await missionIn(project.path);
    expect(mission).toMatchObject({
      code: {
        base: 'main',
        branch: expect.stringMatching(/^orrery\/orrery-init-/) as string,
        setup: 'npm ci',
        backends: ['claude'],
        permission: 'edit',
      },
      tasks: [{ id: 'replace-me', capability: 'code.change' }],
    });
    const verdict = await verdictOf(project, mission);
    expect(verdict.receipts.map(({ gate, passed, tests }) => [gate, passed, tests?.passed])).toEqual([
      ['setup', true, undefined],
      ['test', true, 1],
    ]);
  });

  it('writes gates that fail once a test does', async () => {
    using project = new GitProject({ ...NODE_PROJECT, 'sum.js': 'export const sum = () => 4;\n' });
    await init('codex', project.path);
    const { passed, receipts } = await verdictOf(project, await missionIn(project.path));
    expect({ passed, tests: receipts.at(-1)?.tests?.failed }).toEqual({ passed: false, tests: 1 });
  });

  it.runIf(isThere('python3', '--version'))('writes gates for Python that run', async () => {
    using project = new GitProject({
      'tests/__init__.py': '',
      'tests/test_sum.py':
        'import unittest\n\nclass Sums(unittest.TestCase):\n    def test_adds(self):\n        self.assertEqual(1 + 2, 3)\n',
    });
    await init('gemini', project.path);
    const { passed, receipts } = await verdictOf(project, await missionIn(project.path));
    expect({ passed, tests: receipts[0]?.tests?.passed }).toEqual({ passed: true, tests: 1 });
  });

  it.runIf(isThere('make', '--version'))('writes a gate for a Makefile that runs', async () => {
    using project = new GitProject({ Makefile: 'check:\n\t@echo checked\n' });
    const { stdout } = await init('opencode', project.path);
    expect(stdout).toContain('exit code alone decides');
    expect(await verdictOf(project, await missionIn(project.path))).toMatchObject({ passed: true });
  });

  it('says that a gate must be written where no tests are found, and writes one that fails', async () => {
    using project = new GitProject({ 'README.md': 'A shop.\n' });
    const { code, stdout } = await init('claude', project.path);
    expect(code).toBe(0);
    expect(stdout).toContain('No test command was found in this repository: write a gate');
    const verdict = await verdictOf(project, await missionIn(project.path));
    expect(verdict).toMatchObject({ passed: false, receipts: [{ gate: 'write-a-gate' }] });
    expect(verdict.feedback).toContain('No test command was found');
  });

  it('sees what is committed, as attempts will, and says what is not', async () => {
    using project = new GitProject({ 'README.md': 'A shop.\n' });
    project.write({ ...NODE_PROJECT, 'README.md': 'A larger shop.\n' });
    const { stdout } = await init('claude', project.path);
    expect(stdout).toContain('No test command was found');
    expect(stdout).toContain('Files with changes that are not committed: 1');
  });

  it('says that packages would become part of changes where git does not ignore them', async () => {
    using project = new GitProject({ ...NODE_PROJECT, '.gitignore': '' });
    expect((await init('claude', project.path)).stdout).toContain('Git does not ignore node_modules/');
    using other = new GitProject(NODE_PROJECT);
    expect((await init('claude', other.path)).stdout).not.toContain('does not ignore');
  });

  it('writes defaults where a list of tasks is there, and the list is what they are for', async () => {
    const story = {
      id: 'US-001',
      title: 'A cart',
      acceptanceCriteria: ['It is there'],
      priority: 1,
      passes: false,
    };
    using project = new GitProject({
      ...NODE_PROJECT,
      'prd.json': JSON.stringify({ project: 'shop', branchName: 'ralph/cart', userStories: [story] }),
    });
    const before = readFileSync(join(project.path, 'prd.json'), 'utf8');
    const { stdout } = await init('claude', project.path);
    expect(stdout).toContain('Written: orrery.yaml');
    const mission = await missionIn(project.path);
    expect(mission).toMatchObject({
      code: { branch: 'ralph/cart', backends: ['claude'], gates: [{ name: 'test', tests: true }] },
      limits: { maxAttempts: 3, maxCostUsd: 10 },
      tasks: [{ id: 'US-001' }],
    });
    expect(mission.code?.protect).toContain('prd.json');
    expect(readFileSync(join(project.path, 'prd.json'), 'utf8')).toBe(before);
  });

  it('overwrites nothing', async () => {
    using project = new GitProject(NODE_PROJECT);
    project.write({ 'mission.json': '{}' });
    const { code, stderr } = await init('claude', project.path);
    expect(code).toBe(64);
    expect(stderr).toContain('already has the mission mission.json');
    using listed = new GitProject({ 'fix_plan.md': '- [ ] A cart\n', 'orrery.json': '{ "version": 1 }' });
    const second = await init('claude', listed.path);
    expect(second.code).toBe(64);
    expect(second.stderr).toContain('the defaults orrery.json');
    expect(listed.git('status', '--porcelain')).toBe('');
  });

  it('begins at HEAD where no branch is checked out, and takes a branch that is not there yet', async () => {
    using project = new GitProject(NODE_PROJECT);
    const name = `orrery/${basename(project.path)}`;
    project.git('branch', name);
    project.git('checkout', '--quiet', '--detach');
    await init('claude', project.path);
    expect((await missionIn(project.path)).code).toMatchObject({ base: 'HEAD', branch: `${name}-2` });
  });

  it('writes to the top of the repository that the folder is in', async () => {
    using project = new GitProject({ ...NODE_PROJECT, 'src/cart/index.js': '' });
    expect((await init('claude', join(project.path, 'src/cart'))).code).toBe(0);
    expect(await onlyMission(project.path)).toBe(join(project.path, 'mission.yaml'));
  });

  it('takes the first program that is known to speak ACP, and else says which it looked for', async () => {
    using project = new GitProject(NODE_PROJECT);
    onPath(project, ['codex-acp', 'claude-code-acp']);
    expect((await init('acp', project.path)).code).toBe(0);
    expect((await missionIn(project.path)).code?.backends).toEqual([
      { id: 'claude-code-acp', command: ['claude-code-acp'], acp: true },
    ]);
    using other = new GitProject(NODE_PROJECT);
    onPath(other, []);
    const { code, stderr } = await init('acp', other.path);
    expect(code).toBe(64);
    expect(stderr).toMatch(/Option "--backend" is "acp".*"gemini --experimental-acp".*"codex-acp"/);
    expect(other.git('status', '--porcelain')).toBe('');
  });

  it('says that the program of the agent is not there, and writes the mission all the same', async () => {
    using project = new GitProject(NODE_PROJECT);
    onPath(project, []);
    const { code, stdout } = await init('codex', project.path);
    expect(code).toBe(0);
    expect(stdout).toContain('The program "codex" is not on the PATH');
  });

  it('refuses what makes no sense, naming option or folder and value', async () => {
    using empty = new GitProject();
    const cases = [
      [
        ['cloude', empty.path],
        'Option "--backend" is "cloude", expected one of claude, codex, gemini, opencode, acp; did you mean "claude"?',
      ],
      [['claude', empty.path], `Folder "${empty.path}" is in a git repository without a commit`],
      [['claude', join(empty.path, 'none')], `Folder "${join(empty.path, 'none')}" is not there`],
      [['claude', join(empty.path, '.git')], `Folder "${join(empty.path, '.git')}" is in no git repository`],
      [['claude', '/'], 'Folder "/" is in no git repository'],
    ] as const;
    for (const [[backend, folder], said] of cases) {
      const { code, stderr } = await init(backend, folder);
      expect({ code, stderr }).toEqual({ code: 64, stderr: expect.stringContaining(said) as string });
    }
  });
});
