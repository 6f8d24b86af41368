import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { CodeProject, edit } from '../code-project.ts';

/** The statuses of the tasks of a report, by id. */
const statuses = ({ tasks }: { tasks: readonly { id: string; status: string }[] }) =>
  Object.fromEntries(tasks.map(({ id, status }) => [id, status]));

const task = (id: string, more = {}) => ({ id, title: `Write ${id}`, ...more });

describe('orrery run on a mission that changes a repository', () => {
  it('merges what its gates let pass, one commit for each task, and leaves alone what is the user’s', async () => {
    using project = new CodeProject();
    project.plan({ a: [edit('a.txt', 'one\n')], b: [edit('b.txt', 'two\n')] });
    project.missionOf([task('a'), task('b', { dependsOn: ['a'] })]);
    project.write({ 'README.md': 'Changed by me\n', 'mine.txt': 'not in git\n' });
    const before = [project.git('status', '--porcelain'), project.git('rev-parse', 'main')];

    const { code, report } = await project.run();

    expect(code).toBe(0);
    expect(statuses(report)).toEqual({ a: 'accepted', b: 'accepted' });
    expect(project.tasks).toEqual(['a', 'b']);
    expect([project.merged('a.txt'), project.merged('b.txt')]).toEqual(['one', 'two']);
    expect(project.merged('mine.txt')).toBeUndefined();
    expect([project.git('status', '--porcelain'), project.git('rev-parse', 'main')]).toEqual(before);
    expect(project.git('worktree', 'list', '--porcelain').match(/^worktree /gm)).toHaveLength(1);
  });

  it('believes no agent that its tests pass, and lets it go on with its files, told what failed', async () => {
    using project = new CodeProject();
    const record = join(project.folder, 'asked.jsonl');
    project.plan({
      a: [
        {
          edits: [
            { file: 'a.txt', text: 'WRONG\n' },
            { file: 'kept.txt', text: 'kept\n' },
          ],
          say: 'All 12 tests pass',
          promise: true,
        },
        edit('a.txt', 'right\n', { record }),
      ],
    });
    project.missionOf([task('a')]);

    const { code, report } = await project.run();

    expect(code).toBe(0);
    expect(report.tasks[0]?.attempts.map(({ ended }) => ended)).toEqual(['refused', 'accepted']);
    expect([project.merged('a.txt'), project.merged('kept.txt')]).toEqual(['right', 'kept']);
    const { prompt } = JSON.parse(readFileSync(record, 'utf8')) as { prompt: string };
    expect(prompt).toContain('a.txt is WRONG');
  });

  it('refuses a gate that is to have run tests and has run none', async () => {
    using project = new CodeProject();
    project.plan({ a: [edit('a.md', 'one\n')] });
    project.missionOf([task('a')], {
      code: { gates: [{ name: 'none', run: 'echo "0 passed"', tests: true }] },
    });
    const { code, report } = await project.run();
    expect(code).toBe(2);
    expect(report.tasks[0]).toMatchObject({ status: 'exhausted', why: expect.stringContaining('none') });
    expect(project.tasks).toEqual([]);
  });

  it('ends a task whose attempts leave the same files again, before all are used', async () => {
    using project = new CodeProject();
    project.plan({ a: [edit('a.txt', 'WRONG\n')] });
    project.missionOf([task('a')], { limits: { maxAttempts: 9 } });
    const { report } = await project.run();
    expect(report.tasks[0]).toMatchObject({ status: 'exhausted' });
    expect(report.tasks[0]?.attempts).toHaveLength(2);
  });

  it('lets no change of a protected file in', async () => {
    using project = new CodeProject({ 'ci.yml': 'checks: all\n' });
    project.plan({ a: [edit('ci.yml', 'checks: none\n'), edit('a.txt', 'one\n')] });
    project.missionOf([task('a')], { code: { protect: ['*.yml'] } });
    const { report } = await project.run();
    expect(report.tasks[0]).toMatchObject({ status: 'exhausted', why: expect.stringContaining('ci.yml') });
    expect(project.merged('ci.yml')).toBe('checks: all');
  });

  it('begins nothing more once an attempt has changed what belongs to git itself', async () => {
    using project = new CodeProject();
    const hook = join(project.root, '.git/hooks/post-checkout');
    project.plan({ a: [edit(hook, '#!/bin/sh\n')], b: [edit('b.txt', 'two\n')] });
    project.missionOf([task('a'), task('b', { after: ['a'] })]);
    const { report } = await project.run();
    expect(statuses(report)).toEqual({ a: 'blocked', b: 'failed' });
    expect(report.tasks[0]?.why).toContain('hooks/post-checkout');
    expect(project.tasks).toEqual([]);
  });

  it('begins anew, once, what met the change of another task, on the files of that', async () => {
    using project = new CodeProject({ 'both.txt': 'one\n' });
    const [here, there] = ['a', 'b'].map((name) => join(project.folder, `${name}.jsonl`));
    project.plan({
      a: [edit('both.txt', 'of a\n', { record: here })],
      b: [edit('both.txt', 'of b\n', { record: there }), edit('both.txt', 'of a and b\n', { record: there })],
    });
    // Both have to begin before one is merged: neither ends before the other is there.
    project.missionOf([task('a'), task('b')], {
      limits: { maxParallel: 2 },
      code: { gates: [{ name: 'wait', run: `until [ -e ${here} ] && [ -e ${there} ]; do sleep 0.1; done` }] },
    });
    const { code, report } = await project.run();
    expect(code).toBe(0);
    const requeued = report.tasks.filter(({ attempts }) => attempts.length === 2);
    expect(requeued).toHaveLength(1);
    expect(requeued[0]?.attempts[0]?.reason).toContain('both.txt');
    expect(project.git('log', '--format=%s', 'main..orrery/shop').split('\n')).toHaveLength(2);
  });

  it('works at two tasks that say that they touch the same files one after another', async () => {
    using project = new CodeProject({ 'one.txt': 'one\n' });
    project.plan({ a: [edit('one.txt', 'of a\n')], b: [edit('one.txt', 'of b\n')] });
    const touches = { touches: ['*.txt'] };
    project.missionOf([task('a', touches), task('b', touches)], { limits: { maxParallel: 2 } });
    const { code, report } = await project.run();
    expect(code).toBe(0);
    expect(report.tasks.map(({ attempts }) => attempts.length)).toEqual([1, 1]);
  });

  it('hands a task to another agent when the provider of one limits it, which costs no attempt, and says why that one', async () => {
    using project = new CodeProject();
    project.plan({ a: [{ rateLimit: { resetInS: 3_600, isFinal: true } }] });
    project.missionOf([task('a')], {
      code: {
        backends: ['claude', { id: 'other', command: ['sh', '-c', 'cat > /dev/null; echo two > a.txt'] }],
      },
      limits: { maxAttempts: 1 },
    });
    const { code, report, stdout } = await project.run('--explain', 'a');
    expect({ code, why: report.tasks[0] }).toMatchObject({ code: 0 });
    expect(report.tasks[0]?.attempts.map(({ agent, ended }) => [agent, ended])).toEqual([
      ['other', 'accepted'],
    ]);
    expect(project.merged('a.txt')).toBe('two');
    expect(report.tasks[0]?.choices).toMatchObject([
      { agent: 'claude', bids: [{ agent: 'claude' }, { agent: 'other' }] },
      {
        agent: 'other',
        bids: [{ agent: 'other' }, { agent: 'claude', out: 'takes no more work for now' }],
        answers: [{ agent: 'other', said: 'accepted' }],
      },
    ]);
    expect(stdout).toMatch(/a: other has it: .*; claude takes no more work for now/);
    expect(stdout).toContain('for attempt 1 sun chose other: nobody else is left');
  });

  it('ends when its agents have used what the mission may use, and has warned before (F-04)', async () => {
    using project = new CodeProject();
    project.plan({ '*': [edit('a.txt', 'one\n', { costUsd: 0.9, turns: 1 })] });
    project.missionOf([task('a'), task('b', { dependsOn: ['a'] })], { limits: { maxCostUsd: 1 } });
    const { code, report, stdout } = await project.run('--verbose');
    expect({ code, stdout }).toMatchObject({ code: 2 });
    expect(report.stopReason).not.toBe('all-accepted');
    expect(statuses(report)['a']).toBe('accepted');
    expect(project.tasks).toEqual(['a']);
  });

  it('carries out a prd.json with a gate that is typed, and marks there what was accepted and nothing else', async () => {
    using project = new CodeProject();
    const prd = join(project.root, 'prd.json');
    const stories = [
      {
        id: 'US-1',
        title: 'One',
        acceptanceCriteria: ['it is there'],
        priority: 1,
        passes: false,
        notes: 'mine',
      },
      { id: 'US-2', title: 'Two', acceptanceCriteria: [], priority: 2, passes: false },
    ];
    writeFileSync(
      prd,
      JSON.stringify({ project: 'Shop', branchName: 'ralph/shop', userStories: stories, extra: 1 }, null, 2),
    );
    project.plan({ 'US-1': [edit('a.txt', 'one\n')], 'US-2': [edit('b.txt', 'WRONG\n')] });
    const { code } = await project.start(
      ...['run', '--backend', 'claude', '--gate', 'node --test', '--sync', '--json', project.report],
    ).ended;
    expect(code).toBe(2);
    expect(JSON.parse(readFileSync(prd, 'utf8'))).toEqual({
      ...{ project: 'Shop', branchName: 'ralph/shop', extra: 1 },
      userStories: [{ ...stories[0], passes: true }, stories[1]],
    });
  });

  it('lets an agent veto what has passed its gates, and merges nothing that it has come to no verdict on', async () => {
    using project = new CodeProject();
    project.plan({ a: [edit('a.txt', 'one TODO\n'), edit('a.txt', 'one\n')], b: [edit('b.txt', 'two\n')] });
    const strict = `cat > /dev/null; if grep -q TODO a.txt; then echo "VERDICT: VETO there is a TODO"; else echo "VERDICT: PASS"; fi`;
    const reviewers = [{ id: 'strict', command: ['sh', '-c', strict] }];
    project.missionOf([task('a')], { code: { reviewers } });
    const { code, report } = await project.run();
    expect({ code, why: report.tasks[0] }).toMatchObject({ code: 0 });
    expect(report.tasks[0]?.attempts.map(({ ended, reason }) => [ended, reason])).toEqual([
      ['refused', 'strict-review vetoes it: there is a TODO'],
      ['accepted', undefined],
    ]);
    project.missionOf([task('b')], { code: { reviewers: [{ id: 'echo', command: ['cat'] }] } });
    const echoed = await project.run('--anew');
    expect(echoed.report.tasks[0]).toMatchObject({ status: 'blocked' });
    expect(project.tasks).toEqual(['a']);
  });

  it('says what is missing before anything is started', async () => {
    using project = new CodeProject();
    project.missionOf([task('a')], { code: { backends: undefined } });
    const { code, stderr } = await project.start('run', project.mission).ended;
    expect({ code, stderr }).toMatchObject({ code: 64, stderr: expect.stringContaining('--backend') });
    expect(existsSync(join(project.root, '.orrery'))).toBe(false);
  });

  it('goes on after a SIGKILL with what was accepted, and never does it again', async () => {
    using project = new CodeProject();
    const record = join(project.folder, 'asked.jsonl');
    project.plan({
      a: [edit('a.txt', 'one\n', { record })],
      b: [{ ...edit('b.txt', 'half\n', { record }), hang: true }, edit('b.txt', 'two\n', { record })],
    });
    project.missionOf([task('a'), task('b', { dependsOn: ['a'] })]);
    const first = project.start('run', project.mission, '--verbose', '--json', project.report);
    await first.printed('b is working');
    first.child.kill('SIGKILL');
    await first.ended;
    project.plan({ b: [edit('b.txt', 'two\n', { record })] });
    const anew = await project.start('run', project.mission).ended;
    expect(anew).toMatchObject({ code: 64, stderr: expect.stringContaining("'orrery resume' goes on") });

    const resumed = await project.start('resume').ended;

    expect({ code: resumed.code, stderr: resumed.stderr }).toEqual({ code: 0, stderr: '' });
    expect(statuses(project.reportOf(resumed))).toEqual({ a: 'accepted', b: 'accepted' });
    expect(project.tasks).toEqual(['a', 'b']);
    expect(project.merged('b.txt')).toBe('two');
    const asked = readFileSync(record, 'utf8').trim().split('\n');
    expect(
      asked.filter((line) => (JSON.parse(line) as { prompt: string }).prompt.includes('Write a')),
    ).toHaveLength(1);
  });

  it('begins where a git that was killed has left a worktree of the mission half made', async () => {
    using project = new CodeProject();
    project.plan({ a: [edit('a.txt', 'one\n')] });
    project.missionOf([task('a')]);
    const path = join(project.root, '.orrery/worktrees/shop/a-1');
    project.write({ '.git/worktrees/a-1/gitdir': `${path}/.git\n`, '.git/worktrees/a-1/commondir': '' });
    const { code, report } = await project.run();
    expect({ code, ...statuses(report) }).toEqual({ code: 0, a: 'accepted' });
    expect(project.git('worktree', 'list', '--porcelain').match(/^worktree /gm)).toHaveLength(1);
  });

  it('goes on after a SIGKILL with an attempt that was over, and asks no agent again', async () => {
    using project = new CodeProject();
    const [record, slow] = ['asked.jsonl', 'slow'].map((name) => join(project.folder, name)) as [
      string,
      string,
    ];
    project.plan({ a: [edit('a.txt', 'one\n', { record })] });
    writeFileSync(slow, '');
    project.missionOf([task('a')], {
      code: { gates: [{ name: 'slow', run: `while [ -e ${slow} ]; do sleep 0.1; done` }] },
    });
    const first = project.start('run', project.mission, '--verbose', '--json', project.report);
    await first.printed('the gates of a are run');
    while (project.git('for-each-ref', 'refs/orrery') === '')
      await new Promise((resolve) => setImmediate(resolve));
    first.child.kill('SIGKILL');
    await first.ended;
    rmSync(slow);
    const { code, stderr } = await project.start('resume').ended;
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(project.merged('a.txt')).toBe('one');
    expect(readFileSync(record, 'utf8').trim().split('\n')).toHaveLength(1);
  });

  it('holds a change until somebody approves it from another terminal, and skips what is skipped there', async () => {
    using project = new CodeProject();
    project.plan({ a: [edit('a.txt', 'one\n')], b: [{ hang: true }] });
    project.missionOf([task('a', { approve: true }), task('b')], { limits: { maxParallel: 2 } });
    const run = project.start('run', project.mission, '--verbose', '--json', project.report);
    await run.printed('a is held');
    expect(project.tasks).toEqual([]);
    expect((await project.start('ps').ended).stdout).toMatch(/a +held/);
    expect(await project.start('approve', 'b').ended).toMatchObject({ code: 64 });
    expect(await project.start('approve', 'a').ended).toMatchObject({ code: 0 });
    await run.printed('a is accepted');
    expect(project.tasks).toEqual(['a']);
    expect(await project.start('skip', 'b').ended).toMatchObject({ code: 0 });
    const ended = await run.ended;
    expect(statuses(project.reportOf(ended))).toEqual({ a: 'accepted', b: 'cancelled' });
  });

  it('is stopped from another terminal, and leaves no process', async () => {
    using project = new CodeProject();
    project.plan({ a: [{ hang: 'deaf', grandchild: 'session' }] });
    project.missionOf([task('a')]);
    const run = project.start('run', project.mission, '--verbose', '--json', project.report);
    await run.printed('a is working');
    expect(await project.start('stop').ended).toMatchObject({ code: 0 });
    expect(await run.ended).toMatchObject({ code: 130 });
    while (project.processes.length > 0) await new Promise((resolve) => setImmediate(resolve));
  });
});
