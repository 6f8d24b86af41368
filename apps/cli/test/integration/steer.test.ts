import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir, userInfo } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { ShownRun } from '../../missions/ps-lines.ts';
import { orreryHere } from '../run-here.ts';
import { Orrery } from '../spawn-orrery.ts';

const STEERED = fileURLToPath(new URL('../fixtures/steered-run.ts', import.meta.url));
const WORKSHOP = fileURLToPath(new URL('../fixtures/workshop.agent.ts', import.meta.url));
const ME = userInfo().username;

let folder: string;
let repo: string;
let env: NodeJS.ProcessEnv;
const before = { ...process.env };
const begun: Orrery[] = [];
beforeEach(() => {
  folder = realpathSync(mkdtempSync(join(tmpdir(), 'orrery-steer-')));
  repo = join(folder, 'repo');
  env = {
    XDG_RUNTIME_DIR: join(folder, 'run'),
    XDG_STATE_HOME: join(folder, 'state'),
    GIT_CONFIG_GLOBAL: '/dev/null',
    GIT_CONFIG_NOSYSTEM: '1',
  };
  Object.assign(process.env, env);
  mkdirSync(join(repo, 'src'), { recursive: true });
  git('init', '--quiet');
  git('commit', '--quiet', '--allow-empty', '-m', 'begin');
});
afterEach(async () => {
  for (const run of begun.splice(0)) {
    run.child.kill('SIGKILL');
    await run.ended;
  }
  for (const name of Object.keys(env)) {
    if (before[name] === undefined) delete process.env[name];
    else process.env[name] = before[name];
  }
  rmSync(folder, { recursive: true, force: true });
});

const git = (...args: readonly string[]): string =>
  execFileSync('git', ['-c', 'user.name=Ada', '-c', 'user.email=ada@example.org', ...args], {
    cwd: repo,
    encoding: 'utf8',
    env: { ...process.env, ...env },
  }).trim();

/** A mission that runs in a process of its own, as somebody has typed it in the repository. */
function mission(name: string, over: Record<string, unknown>, words: readonly string[] = []): Orrery {
  const file = join(folder, `${name}.json`);
  writeFileSync(
    file,
    JSON.stringify({ version: 1, name, limits: { maxAttempts: 1, maxParallel: 4 }, ...over }),
  );
  const run = new Orrery([file, ...words], { cwd: repo, env, main: STEERED });
  begun.push(run);
  return run;
}

/** Another terminal, in a folder of the repository. */
const orrery = (...words: readonly string[]) => new Orrery(words, { cwd: join(repo, 'src'), env }).ended;
/** The same without a process that asks, which takes less time. */
const told = (...words: readonly string[]) => orreryHere(...words, '--repo', join(repo, 'src'));

const runs = async (): Promise<readonly ShownRun[]> =>
  JSON.parse((await told('ps', '--json')).stdout) as readonly ShownRun[];

/** A coding agent that writes a file named after its task, a slow one only once there is `go`. */
const scribe = (): readonly string[] => [
  'sh',
  '-c',
  `prompt=$(cat); case "$prompt" in *Slow*) while [ ! -e ${folder}/go ]; do sleep 0.05; done; echo 1 > slow.txt;; *) echo 1 > quick.txt;; esac`,
];
const changes = (name = 'Spring clean') =>
  mission(name, {
    code: { gates: [{ name: 'always', run: 'true' }], backends: [{ id: 'scribe', command: scribe() }] },
    tasks: [
      { id: 'quick', title: 'Quick work', approve: true },
      { id: 'slow', title: 'Slow work' },
      { id: 'last', title: 'Last work', dependsOn: ['slow'] },
    ],
  });

/** A task that is accepted at once, and one that waits for a word. */
const wordTasks = {
  agents: [WORKSHOP],
  tasks: [
    { id: 'first', title: 'First', capability: 'words.check' },
    { id: 'last', title: 'Last', capability: 'wait.for-word', dependsOn: ['first'] },
  ],
};

describe('a mission that runs, from another terminal', () => {
  it('is shown, and what is held merged once somebody approves it (F-11)', async () => {
    const run = changes();
    await Promise.all([run.printed('quick is held'), run.printed('slow is working')]);

    const shown = await orrery('ps');
    expect(shown).toMatchObject({ code: 0, stderr: '' });
    expect(shown.stdout).toContain(`Spring clean: running, process ${run.child.pid}`);
    expect(shown.stdout).toMatch(/quick +held .*waits for 'orrery approve quick'/);
    expect(shown.stdout).toMatch(/slow +working +scribe, attempt 1/);

    expect(await told('approve', 'slow')).toMatchObject({
      code: 64,
      stderr: expect.stringContaining(
        'slow of "Spring clean" is working: only a change that is held can be approved',
      ) as string,
    });
    expect((await told('skip', 'slwo')).stderr).toContain('did you mean "slow"?');
    expect(git('branch', '--list', 'orrery/*')).not.toBe('');
    expect(git('ls-tree', '--name-only', 'orrery/spring-clean')).toBe('');

    expect(await told('approve', 'quick')).toMatchObject({
      code: 0,
      stdout: 'quick of "Spring clean" is approved, and is merged\n',
    });
    await run.printed('quick is accepted');
    expect(run.stdout).toContain(`quick is merging: ${ME} approved it`);
    expect(git('ls-tree', '--name-only', 'orrery/spring-clean')).toBe('quick.txt');
  });

  it('is paused and gone on with, and a task of it skipped', async () => {
    const run = changes();
    await run.printed('slow is working');
    expect(await told('pause')).toMatchObject({ code: 0 });
    expect((await told('ps')).stdout).toContain(`Spring clean: paused by ${ME}`);
    expect(await told('pause', 'spring-clean')).toMatchObject({
      code: 64,
      stderr: expect.stringContaining(`"Spring clean": ${ME} has paused it already`) as string,
    });
    expect(await orrery('continue', 'Spring clean', '--repo', '..')).toMatchObject({ code: 0 });
    expect((await told('continue')).stderr).toContain('it is not paused');

    expect(await told('skip', 'slow', '--mission', 'Spring clean')).toMatchObject({ code: 0 });
    expect(await told('skip', 'quick')).toMatchObject({ code: 0 });
    expect(await run.ended).toMatchObject({ code: 1, stderr: '' });
    expect(run.stdout).toContain(`slow is cancelled: ${ME} skipped it`);
    expect(run.stdout).toContain('last is blocked');

    expect(await runs()).toMatchObject([
      { mission: 'Spring clean', status: 'ended', ended: { stopReason: 'task-blocked', exitCode: 1 } },
    ]);
    const late = await told('skip', 'slow');
    expect(late).toMatchObject({ code: 64 });
    expect(late.stderr).toContain(
      '"Spring clean": it ended as task-blocked; \'orrery resume\' goes on with it',
    );
  });

  it('is stopped as by Ctrl-C, and its record says so', async () => {
    const run = mission('words', wordTasks);
    await run.printed('last is working');
    expect(await orrery('stop')).toMatchObject({ code: 0, stdout: '"words" is being stopped\n' });
    expect(await run.ended).toMatchObject({
      code: 130,
      stderr: `orrery: ${ME} stops it from another terminal\n`,
    });
    expect(run.stdout).toContain('last is cancelled: the mission was stopped');
    expect(await runs()).toMatchObject([{ ended: { stopReason: 'interrupted', exitCode: 130 } }]);
  });

  it('has to be named where several run', async () => {
    const [one, two] = [mission('one', wordTasks), mission('two', wordTasks)];
    await Promise.all([one.printed('last is working'), two.printed('last is working')]);
    const several = await told('stop');
    expect(several).toMatchObject({ code: 64 });
    expect(several.stderr).toMatch(/Argument NAME is missing: .*"(one|two)", "(one|two)"/);
    expect((await told('approve', 'last')).stderr).toContain('Option "--mission" is missing');
    expect(await told('stop', 'two')).toMatchObject({ code: 0 });
    await two.ended;
    expect((await runs()).map(({ mission: name, status }) => `${name} ${status}`).sort()).toEqual([
      'one running',
      'two ended',
    ]);
  });

  it('is heard in a terminal that has another environment', async () => {
    env = { ...env, XDG_RUNTIME_DIR: undefined };
    const run = mission('words', wordTasks);
    await run.printed('last is working');
    expect(process.env['XDG_RUNTIME_DIR']).toBe(join(folder, 'run'));
    expect(await told('pause')).toMatchObject({ code: 0, stderr: '' });
  });

  it('that listens nowhere this terminal looks is said to run and not to answer', async () => {
    const run = mission('words', wordTasks);
    await run.printed('last is working');
    rmSync(join(folder, 'run'), { recursive: true });
    expect(await told('stop')).toMatchObject({
      code: 1,
      stderr: `orrery: The process ${run.child.pid} of "words" does not answer: it listens nowhere\n`,
    });
    expect((await told('ps')).stdout).toContain('does not answer');
  });
});

describe('a mission whose process was killed', () => {
  it('is not begun anew by itself, and is resumed from any folder without doing again what was accepted', async () => {
    const run = mission('words', wordTasks, ['--verbose']);
    await run.printed('last is working');
    const early = await told('resume');
    expect(early).toMatchObject({ code: 64 });
    expect(early.stderr).toContain(`"words" is carried out by process ${run.child.pid} already`);
    run.child.kill('SIGKILL');
    await run.ended;

    expect((await told('ps')).stdout).toContain(`words: its process ${run.child.pid} died`);
    expect((await told('stop')).stderr).toContain("died; 'orrery resume' goes on with it");
    const again = await mission('words', wordTasks).ended;
    expect(again).toMatchObject({ code: 64, stdout: '' });
    expect(again.stderr).toContain('was not finished: its process');
    expect(again.stderr).toContain("'orrery resume' goes on with it, --anew begins anew");

    writeFileSync(join(repo, 'word.txt'), 'go on');
    const resumed = await orrery('resume');
    expect(resumed).toMatchObject({ code: 0, stderr: '' });
    expect(resumed.stdout).toContain('first is accepted: it was accepted in a run before');
    expect(resumed.stdout).not.toContain('first is working');
    expect(resumed.stdout).toContain('2 of 2 tasks accepted');
  });

  it('is begun anew where somebody says so, and is nothing to resume once all is accepted', async () => {
    const run = mission('words', wordTasks);
    await run.printed('last is working');
    run.child.kill('SIGKILL');
    await run.ended;
    writeFileSync(join(repo, 'word.txt'), 'go on');
    const anew = await mission('words', wordTasks, ['--anew']).ended;
    expect(anew).toMatchObject({ code: 0, stderr: '' });
    expect(anew.stdout).toContain('first is working');
    expect(await told('resume')).toMatchObject({
      code: 64,
      stderr: expect.stringContaining(
        'Nothing is to be resumed: "words" ended with everything accepted',
      ) as string,
    });
  });

  it('is not resumed as somebody has changed its record, or where none was run', async () => {
    expect(await told('resume')).toMatchObject({
      code: 64,
      stderr: expect.stringContaining(`No mission was run in ${repo}`) as string,
    });
    const run = mission('words', wordTasks);
    await run.printed('last is working');
    run.child.kill('SIGKILL');
    await run.ended;
    process.env['XDG_STATE_HOME'] = join(folder, 'of-somebody-else');
    const theirs = await told('resume');
    expect(theirs).toMatchObject({ code: 64 });
    expect(theirs.stderr).toContain('run.json is not used: it was not written by you');
    expect((await told('ps')).stdout).toContain('is not used: it was not written by you');
  });
});

describe('orrery ps', () => {
  it('says where there is no repository, or no mission was run', async () => {
    expect(await orrery('ps')).toMatchObject({ code: 0, stdout: `No mission was run in ${repo}\n` });
    expect(await orreryHere('ps', '--repo', folder)).toMatchObject({
      code: 64,
      stderr: expect.stringContaining(`The folder ${folder} is in no git repository`) as string,
    });
    expect((await told('skip')).stderr).toContain("Argument TASK is missing: 'orrery skip TASK'");
  });
});
