import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { GuardedProcess } from '../../../runtime/os/guarded-process.ts';
import { systemClock } from '../../../runtime/protocol/system-seams.ts';
import { markedWith, untilMarked } from '../../fixtures/coding/marked.ts';
import { memoryKb, startedWith } from '../../fixtures/processes.ts';
import { until } from '../../fixtures/until.ts';

const { PATH = '' } = process.env;
/** They hold on to the output, and heed nothing but SIGKILL. */
const IN_GROUP = `sh -c 'trap "" TERM; sleep 1000; sleep 1000' &`;
const OUT_OF_GROUP = `setsid sh -c '(trap "" TERM; setsid sleep 1000 & setsid sleep 1001 &) & exit 0'; `;

let marks = 0;

function run(script: string, changes: { command?: string; cwd?: string } = {}) {
  const mark = `guarded-${process.pid}-${++marks}`;
  const order = { command: '/bin/sh', args: ['-c', script], cwd: undefined, env: { PATH }, mark, ...changes };
  return { mark, guarded: new GuardedProcess(order, systemClock) };
}

const nobodyIsLeft = async (mark: string): Promise<void> => {
  expect(markedWith(mark)).toEqual([]);
  await until('its watcher is gone', () => startedWith(`ORRERY_PROCESS=${mark}`).length === 0);
};

describe('A guarded process', () => {
  it('says its exit code when it has ended, and what it was told and said', async () => {
    const { mark, guarded } = run('read -r line; echo "$line"; echo "$ORRERY_PROCESS" >&2; exit 7');
    guarded.input.end('told\n');
    const [output, log, end] = await Promise.all([text(guarded.output), text(guarded.log), guarded.ended]);
    expect([output, log, end]).toEqual(['told\n', `${mark}\n`, { code: 7, signal: null }]);
    await nobodyIsLeft(mark);
  });

  it.each([
    ['is not there', { command: '/nowhere/program' }, /not installed, or not on the PATH/],
    ['is no program', { command: '/etc/passwd' }, /EACCES/],
    ['is to run in a folder that is not there', { cwd: '/nowhere' }, /no folder \/nowhere/],
    ['has a name that no program has', { command: 'a\0b' }, /null bytes/],
  ])('says why it could not be started when it %s', async (_why, changes, failure) => {
    const { mark, guarded } = run('exit 0', changes);
    guarded.input.end('told');
    expect(await guarded.ended).toMatchObject({ code: null, failure: expect.stringMatching(failure) });
    expect(guarded.pid).toBeUndefined();
    expect(await guarded.stop(0)).toHaveProperty('failure');
    await nobodyIsLeft(mark);
  });

  it('is not harmed by input that nobody reads', async () => {
    const { guarded } = run('exec 0<&-; exit 3');
    guarded.input.end('x'.repeat(1_000_000));
    guarded.output.resume();
    guarded.log.resume();
    expect(await guarded.ended).toEqual({ code: 3, signal: null });
  });

  it('ends by SIGTERM when it is stopped', async () => {
    const { guarded } = run(`trap 'echo bye; exit 4' TERM; echo ready; while :; do sleep 0.01; done`);
    const said = text(guarded.output);
    await once(guarded.output, 'data');
    guarded.log.resume();
    expect(await guarded.stop(600_000)).toEqual({ code: 4, signal: null });
    expect(await said).toBe('ready\nbye\n');
  });

  it('is killed when it does not heed SIGTERM within the grace', async () => {
    const { mark, guarded } = run(`trap '' TERM; echo ready; ${IN_GROUP} while :; do sleep 1; done`);
    await once(guarded.output, 'data');
    guarded.output.resume();
    guarded.log.resume();
    expect(await guarded.stop(1)).toEqual({ code: null, signal: 'SIGKILL' });
    await nobodyIsLeft(mark);
  });

  it.each([
    ['in the background, which holds its output,', IN_GROUP, 2],
    ['in a session of its own, whose parent is gone,', OUT_OF_GROUP, 2],
  ])('takes what it started %s along when it ends by itself', async (_how, script, count) => {
    const { mark, guarded } = run(`${script} echo started; read -r _; exit 0`);
    const said = text(guarded.output);
    guarded.log.resume();
    await untilMarked(mark, 1 + count);
    guarded.input.end('\n');
    expect(await guarded.ended).toEqual({ code: 0, signal: null });
    expect(await said).toBe('started\n');
    await nobodyIsLeft(mark);
  });

  it('takes its family along when it is killed from elsewhere', async () => {
    const { mark, guarded } = run(`${IN_GROUP} ${OUT_OF_GROUP} while :; do sleep 1; done`);
    guarded.output.resume();
    guarded.log.resume();
    await until('all run', () => markedWith(mark).length >= 5);
    process.kill(guarded.pid as number, 'SIGKILL');
    expect(await guarded.ended).toEqual({ code: null, signal: 'SIGKILL' });
    await nobodyIsLeft(mark);
  });

  it('is left alone by the end of another one whose mark begins its own', async () => {
    const { mark, guarded } = run('exit 0');
    const env = { PATH, ORRERY_PROCESS: `${mark}1` };
    const other = spawn('/bin/sh', ['-c', 'read -r _; exit 9'], { env, stdio: ['pipe', 'ignore', 'ignore'] });
    guarded.output.resume();
    guarded.log.resume();
    await guarded.ended;
    other.stdin.end('\n');
    expect(await once(other, 'exit')).toEqual([9, null]);
  });

  it('keeps its host running until it has ended, also one that has nothing else to do', async () => {
    const file = fileURLToPath(new URL('../../fixtures/coding/guarded-host.ts', import.meta.url));
    const mark = `short-${process.pid}-${++marks}`;
    const host = spawn(process.execPath, [file, mark, 'exit 7', 'short'], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const [said, [code]] = await Promise.all([text(host.stdout), once(host, 'close')]);
    expect([said, code]).toEqual(['7\n', 0]);
  });

  it('waits while nobody reads what it says, and memory does not grow', async () => {
    const { mark, guarded } = run('exec yes');
    await untilMarked(mark, 1);
    await until(
      'the pipe is full',
      () => guarded.output.readableLength >= guarded.output.readableHighWaterMark,
    );
    expect(guarded.output.readableLength).toBeLessThan(1_000_000);
    expect(memoryKb(guarded.pid as number, 'VmRSS')).toBeLessThan(100_000);
    guarded.kill();
    expect(await guarded.ended).toMatchObject({ signal: 'SIGKILL' });
  });
});

describe('The family of a guarded process', () => {
  const file = fileURLToPath(new URL('../../fixtures/coding/guarded-host.ts', import.meta.url));
  const script = `trap '' TERM; ${IN_GROUP} ${OUT_OF_GROUP} while :; do sleep 1000; done`;

  it.each(['main', 'thread'])('is gone when its host is killed by SIGKILL (%s)', async (where) => {
    const mark = `host-${process.pid}-${++marks}`;
    const host = spawn(process.execPath, [file, mark, script, where], {
      stdio: ['pipe', 'inherit', 'inherit'],
    });
    await until('all run', () => markedWith(mark).length >= 6);
    host.kill('SIGKILL');
    await untilMarked(mark, 0);
    await nobodyIsLeft(mark);
  });

  it('is gone when the thread that started it is ended', async () => {
    const mark = `host-${process.pid}-${++marks}`;
    const host = spawn(process.execPath, [file, mark, script, 'thread'], {
      stdio: ['pipe', 'inherit', 'inherit'],
    });
    await until('all run', () => markedWith(mark).length >= 6);
    host.stdin.write('end the thread\n');
    await untilMarked(mark, 0);
    expect(host.exitCode).toBeNull();
    host.kill('SIGKILL');
    await nobodyIsLeft(mark);
  });
});
