import { execFileSync, spawn } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { CONDITIONS } from '../../../../test/fixtures/conditions.ts';
import { CodeProject, edit } from '../code-project.ts';
import { MAIN } from '../spawn-orrery.ts';

const TASK = { id: 'a', title: 'Write a' };

/** A mission whose gate waits for `go`, which lets it through. */
function waiting(project: CodeProject): () => void {
  const go = join(project.folder, 'go');
  project.plan({ a: [edit('a.txt', 'one\n')] });
  project.missionOf([TASK], {
    code: { gates: [{ name: 'wait', run: `until [ -e ${go} ]; do sleep 0.1; done` }] },
  });
  return () => writeFileSync(go, '');
}

/** A mission whose agent does not end, nor what it has started. */
function hanging(project: CodeProject): void {
  project.plan({ a: [{ hang: 'deaf', grandchild: 'session' }] });
  project.missionOf([TASK]);
}

/** Waits until nobody is there any more that was started for a project. */
async function untilNobodyIsLeft(project: CodeProject): Promise<void> {
  while (project.processes.length > 0) await new Promise((resolve) => setImmediate(resolve));
}

describe('a mission whose output nobody reads any more', () => {
  it('goes on to its end, silently, and is seen and found as any other', async () => {
    using project = new CodeProject();
    const letThrough = waiting(project);
    const run = project.start('run', project.mission, '--verbose', '--json', project.report);
    await run.printed('the gates of a are run');
    run.child.stdout.destroy();
    run.child.stderr.destroy();
    letThrough();
    const ended = await run.ended;
    expect(ended).toMatchObject({ code: 0, signal: null });
    expect(project.reportOf(ended).stopReason).toBe('all-accepted');
    expect(project.tasks).toEqual(['a']);
    expect(project.git('worktree', 'list', '--porcelain').match(/^worktree /gm)).toHaveLength(1);
    expect((await project.start('ps').ended).stdout).toContain('all-accepted');
  });

  it('is no fault of a command that only says something', async () => {
    using project = new CodeProject();
    const letThrough = waiting(project);
    letThrough();
    await project.run();
    for (const words of [['ps'], ['check', project.mission], ['--help']]) {
      const said = project.start(...words);
      said.child.stdout.destroy();
      expect(await said.ended).toMatchObject({ code: 0, signal: null, stderr: '' });
    }
  });
});

describe('a mission whose terminal was closed', () => {
  it('ends in order, as by Ctrl-C, and leaves no process', async () => {
    using project = new CodeProject();
    hanging(project);
    const run = project.start('run', project.mission, '--verbose', '--json', project.report);
    await run.printed('a is working');
    run.child.stdout.destroy();
    run.child.stderr.destroy();
    run.child.kill('SIGHUP');
    expect(await run.ended).toMatchObject({ code: 129, signal: null });
    await untilNobodyIsLeft(project);
  });

  it.skipIf(isScriptMissing())('does so too where the terminal is gone with it', async () => {
    using project = new CodeProject();
    hanging(project);
    const [shell, told] = ['shell.mjs', 'told'].map((name) => join(project.folder, name)) as [string, string];
    const words = [...CONDITIONS, MAIN, 'run', project.mission, '--repo', project.root];
    // As a shell does, it passes on that the terminal is gone; it can also tell a process that ended by that from one in order.
    writeFileSync(
      shell,
      `import { spawn } from 'node:child_process';
       import { writeFileSync } from 'node:fs';
       const child = spawn(process.execPath, ${JSON.stringify(words)}, { stdio: 'inherit' });
       process.on('SIGHUP', () => child.kill('SIGHUP'));
       child.on('exit', (...how) => writeFileSync(${JSON.stringify(told)}, JSON.stringify(how)));`,
    );
    const terminal = spawn('script', ['-qefc', `exec '${process.execPath}' '${shell}'`, '/dev/null'], {
      cwd: project.folder,
      env: { ...process.env, ...project.env, TERM: 'xterm-256color', NO_COLOR: '1', FORCE_COLOR: undefined },
      stdio: ['pipe', 'pipe', 'ignore'],
    });
    for await (const text of terminal.stdout.setEncoding('utf8') as AsyncIterable<string>)
      if (text.includes('claude')) break;
    terminal.kill('SIGKILL');
    await untilNobodyIsLeft(project);
    expect(JSON.parse(readFileSync(told, 'utf8'))).toEqual([129, null]);
  });
});

/** Whether the `script` of util-linux, which makes a terminal for a command, is not there. In CI it has to be. */
function isScriptMissing(): boolean {
  if (process.env['CI'] !== undefined) return false;
  try {
    return !execFileSync('script', ['--version'], { encoding: 'utf8' }).includes('util-linux');
  } catch {
    return true;
  }
}
