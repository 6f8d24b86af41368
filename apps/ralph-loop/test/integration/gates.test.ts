import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { gateEnvironment } from '../../gates/gate-environment.ts';
import { GateReceipt } from '../../gates/gate-receipt.ts';
import { runGate } from '../../gates/run-gate.ts';
import { type GateEvent, runGates } from '../../gates/run-gates.ts';
import { wallClock } from '../../loop/wall-clock.ts';
import { MissionGate } from '../../mission/mission.ts';
import { TemporaryFolder } from '../unit/temporary-folder.ts';

const folder = new TemporaryFolder();
const worktree = join(folder.path, 'worktree');
const packages = fileURLToPath(new URL('../../../../node_modules', import.meta.url));
const env = { ...gateEnvironment(process.env, { cwd: worktree }), NODE: process.execPath };
let serial = 0;

beforeAll(() => {
  mkdirSync(worktree);
});
afterAll(() => folder[Symbol.dispose]());

const newMark = () => `gates-${process.pid}-${serial++}`;

async function receiptOf(
  gate: Omit<MissionGate, 'name'>,
  more: { signal?: AbortSignal; mark?: string } = {},
) {
  const logFile = join(folder.path, 'logs', `${serial++}.log`);
  const deps = { cwd: worktree, logFile, env, clock: wallClock, mark: newMark(), ...more };
  const receipt = await runGate(MissionGate.parse({ name: 'test', ...gate }), deps);
  expect(GateReceipt.parse(receipt)).toEqual(receipt);
  const log = readFileSync(logFile);
  expect(receipt.logBytes).toBe(log.length);
  expect(receipt.logSha256).toBe(createHash('sha256').update(log).digest('hex'));
  expect(withMark(deps.mark)).toEqual([]);
  return { ...receipt, log: log.toString() };
}

/** The processes that live and have the mark in their environment. */
function withMark(mark: string): string[] {
  return readdirSync('/proc').filter((name) => {
    try {
      return (
        /^\d+$/.test(name) &&
        !/^\d+ \(.*\) [ZX]/s.test(readFileSync(`/proc/${name}/stat`, 'latin1')) &&
        readFileSync(`/proc/${name}/environ`, 'latin1').includes(mark)
      );
    } catch {
      return false;
    }
  });
}

const script = (source: string): string[] => [process.execPath, '-e', source];

describe('a gate', () => {
  it('passes with exit code 0, in the worktree, with nothing to read and its output in order', async () => {
    const run = 'pwd; cat; echo one; echo two >&2; echo three; echo "CI=$CI"';
    const receipt = await receiptOf({ run });
    expect(receipt).toMatchObject({
      passed: true,
      exitCode: 0,
      command: run,
      why: 'exit code 0',
      timedOut: false,
    });
    expect(receipt.log).toBe(`${worktree}\none\ntwo\nthree\nCI=true\n`);
  });

  it('gets the words of a list as they are, and no shell', async () => {
    const receipt = await receiptOf({ run: ['printf', '%s|', '$HOME', '; exit 1', "it's", '2>&1'] });
    expect(receipt).toMatchObject({ passed: true, log: "$HOME|; exit 1|it's|2>&1|" });
  });

  it.each<[title: string, gate: Omit<MissionGate, 'name'>, fields: object]>([
    [
      'that is no command',
      { run: 'no-such-command-here' },
      { exitCode: 127, why: 'exit code 127: a command was not found' },
    ],
    [
      'that is no program',
      { run: ['no-such-program-here'] },
      { exitCode: 127, why: 'exit code 127: a command was not found' },
    ],
    [
      'whose process is killed',
      { run: 'kill -9 $$' },
      { exitCode: null, signal: 'SIGKILL', why: 'ended by SIGKILL' },
    ],
    [
      'a command of which is killed',
      { run: 'sh -c "kill -9 \\$\\$"; exit $?' },
      { exitCode: 137, why: 'exit code 137: a command was ended by SIGKILL' },
    ],
    [
      'that says 0 passed',
      { run: 'echo "0 passed, 0 failed"', tests: true },
      { exitCode: 0, why: 'exit code 0, but no test ran', tests: { passed: 0, by: 'plain counts' } },
    ],
    [
      'that only says that all is well',
      { run: 'echo "All tests pass!"', tests: true },
      { exitCode: 0, why: expect.stringMatching(/^exit code 0, but no test ran that is known of/) },
    ],
    [
      'that says so over tests that failed',
      { run: 'echo "3 passed, 2 failed"; echo "All tests pass!"', tests: true },
      { exitCode: 0, why: 'exit code 0, but 2 tests failed of 5 that ran' },
    ],
    [
      'that prints a summary and fails',
      {
        run: 'printf "TAP version 13\\nok 1\\n1..1\\n# tests 1\\n# pass 1\\n# fail 0\\n"; exit 3',
        tests: true,
      },
      { exitCode: 3, why: 'exit code 3; 1 test passed' },
    ],
    [
      'that prints totals of tests that nobody saw',
      { run: 'printf "TAP version 13\\n1..0\\n# tests 9\\n# pass 9\\n# fail 0\\n"', tests: true },
      { exitCode: 0, why: 'exit code 0, but no test ran' },
    ],
    [
      'with fewer tests than it must have',
      { run: 'echo "3 passed, 0 failed"', tests: 4 },
      { exitCode: 0, why: 'exit code 0, but only 3 tests ran of 4 that must' },
    ],
  ])('fails %s', async (_title, gate, fields) => {
    expect(await receiptOf(gate)).toMatchObject({ passed: false, timedOut: false, ...fields });
  });

  it('fails in a folder that is gone, and says so', async () => {
    const logFile = join(folder.path, 'logs', 'gone.log');
    const cwd = join(folder.path, 'gone');
    const gate = MissionGate.parse({ name: 'test', run: 'true' });
    const receipt = await runGate(gate, { cwd, logFile, env, clock: wallClock, mark: newMark() });
    expect(receipt).toMatchObject({ passed: false, exitCode: null, why: expect.stringContaining(cwd) });
  });
});

describe('the tests of a gate', () => {
  it('are counted as node:test runs them, and a summary that one of them prints adds none', async () => {
    writeFileSync(
      join(worktree, 'some.test.mjs'),
      `import { test } from 'node:test';
       console.log('# tests 900\\n# pass 900');
       test('a', () => {}); test('b', () => {}); test('c', { skip: true }, () => {});`,
    );
    const tests = { passed: 2, failed: 0, skipped: 1 };
    for (const [reporter, by] of [
      ['tap', 'TAP'],
      ['spec', 'node:test'],
    ] as const) {
      const run = [process.execPath, '--test', `--test-reporter=${reporter}`, 'some.test.mjs'];
      expect(await receiptOf({ run, tests: 2 })).toMatchObject({ passed: true, tests: { ...tests, by } });
    }
    for (const reporter of ['tap', 'spec']) {
      const run = [
        process.execPath,
        '--test',
        `--test-reporter=${reporter}`,
        '--test-name-pattern=none',
        'some.test.mjs',
      ];
      expect(await receiptOf({ run, tests: true })).toMatchObject({
        passed: false,
        exitCode: 0,
        why: 'exit code 0, but no test ran',
      });
    }
  });

  it('are counted as vitest runs them, also when its exit code is thrown away', async () => {
    const root = join(worktree, 'with-vitest');
    mkdirSync(root);
    symlinkSync(packages, join(root, 'node_modules'));
    writeFileSync(
      join(root, 'some.test.mjs'),
      `import { expect, test } from 'vitest';
       test('a', () => {}); test.skip('b', () => {}); test('c', () => { console.log('      Tests  900 passed (900)'); expect(1).toBe(2); });`,
    );
    const run = `"$NODE" node_modules/vitest/vitest.mjs run --root "${root}"`.replace(
      'node_modules',
      packages,
    );
    const tests = { passed: 1, failed: 1, skipped: 1, by: 'vitest' };
    expect(await receiptOf({ run, tests: true })).toMatchObject({ passed: false, exitCode: 1, tests });
    expect(await receiptOf({ run: `${run} || true`, tests: true })).toMatchObject({
      passed: false,
      exitCode: 0,
      why: 'exit code 0, but 1 test failed of 2 that ran',
    });
    expect(await receiptOf({ run: `${run} nothing-like-it --passWithNoTests`, tests: true })).toMatchObject({
      passed: false,
      exitCode: 0,
      why: 'exit code 0, but no test ran',
    });
  });
});

describe('what a gate has started', () => {
  it('is gone when the gate has ended, also what has left its group and holds its output', async () => {
    const pids = join(folder.path, 'pids');
    const run = `setsid sh -c 'echo $$ >> "${pids}"; exec sleep 600' & sleep 600 & echo $! >> "${pids}"; while [ "$(wc -l < "${pids}")" -lt 2 ]; do :; done; exit 0`;
    const receipt = await receiptOf({ run });
    expect(receipt).toMatchObject({ passed: true, exitCode: 0 });
    const started = readFileSync(pids, 'utf8').trim().split('\n');
    expect(started).toHaveLength(2);
    expect(started.filter(isAlive)).toEqual([]);
  });

  it('is gone when its time is over, also what does not heed SIGTERM', async () => {
    const source = "process.on('SIGTERM', () => {}); setInterval(() => {}, 1_000); console.log('hangs');";
    const receipt = await receiptOf({ run: `setsid sleep 600 & "$NODE" -e "${source}"`, timeoutMs: 2_000 });
    expect(receipt).toMatchObject({
      passed: false,
      timedOut: true,
      why: 'not over after 2.0 s, so it was ended',
    });
  });

  it('is no reason to pass when it ends well after SIGTERM', async () => {
    const run = 'trap "echo 5 passed, 0 failed; exit 0" TERM; while :; do sleep 0.05; done';
    expect(await receiptOf({ run, timeoutMs: 1_000, tests: true })).toMatchObject({
      passed: false,
      timedOut: true,
      exitCode: 0,
    });
  });

  it('is gone when it is stopped, and before it is started', async () => {
    const stopped = new AbortController();
    const mark = newMark();
    const running = receiptOf(
      { run: 'sleep 600 & echo started > started; wait' },
      { signal: stopped.signal, mark },
    );
    while (!existsSync(join(worktree, 'started'))) await new Promise(setImmediate);
    stopped.abort();
    const fields = { passed: false, timedOut: false, why: 'stopped before it was over' };
    expect(await running).toMatchObject(fields);
    expect(await receiptOf({ run: 'echo > never' }, { signal: stopped.signal })).toMatchObject(fields);
    expect(existsSync(join(worktree, 'never'))).toBe(false);
  });

  it('is gone when Orrery itself is killed', async () => {
    const mark = newMark();
    const here = (path: string) => JSON.stringify(new URL(path, import.meta.url).href);
    const source = `
      import { runGate } from ${here('../../gates/run-gate.ts')};
      import { wallClock } from ${here('../../loop/wall-clock.ts')};
      const run = 'setsid sleep 600 & sleep 600 & echo > running; wait';
      await runGate({ name: 'test', run }, { cwd: ${JSON.stringify(worktree)}, logFile: ${JSON.stringify(join(folder.path, 'logs', 'killed.log'))},
        env: { PATH: process.env.PATH }, clock: wallClock, mark: '${mark}' });`;
    const file = join(fileURLToPath(new URL('.', import.meta.url)), '..', '..', '..', '..');
    const orrery = spawn(process.execPath, ['--input-type=module-typescript', '-e', source], {
      cwd: file,
      stdio: ['ignore', 'inherit', 'inherit'],
    });
    while (!existsSync(join(worktree, 'running'))) await new Promise(setImmediate);
    expect(withMark(mark).length).toBeGreaterThan(2);
    orrery.kill('SIGKILL');
    await once(orrery, 'exit');
    while (withMark(mark).length > 0) await new Promise(setImmediate);
  });
});

const isAlive = (pid: string): boolean => {
  try {
    return !/^\d+ \(.*\) [ZX]/s.test(readFileSync(`/proc/${pid}/stat`, 'latin1'));
  } catch {
    return false;
  }
};

describe('the output of a gate', () => {
  it('is kept to 16 MB in its file, and hardly in memory, when it is a flood; the count is of all of it', async () => {
    const before = process.memoryUsage().rss;
    let most = 0;
    const watch = setInterval(() => {
      most = Math.max(most, process.memoryUsage().rss - before);
    }, 20);
    const flood = 'head -c 200000000 /dev/zero | tr "\\0" "y"';
    const receipt = await receiptOf({
      run: `echo begins; ${flood}; echo; echo "5 passed, 0 failed"; echo ends`,
      tests: 5,
    });
    clearInterval(watch);
    expect(receipt).toMatchObject({ passed: true, tests: { passed: 5 } });
    expect(statSync(receipt.logFile).size).toBeLessThan(17 * 1024 * 1024);
    expect(receipt.log).toMatch(/^begins\ny/);
    expect(receipt.log).toMatch(/\n\[18\d{7} bytes are left out here\]\n/);
    expect(receipt.log).toMatch(/y\n5 passed, 0 failed\nends\n$/);
    expect(most).toBeLessThan(150 * 1024 * 1024);
  });

  it('of short lines is read as fast as it comes, until its time is over', async () => {
    const receipt = await receiptOf({ run: 'yes', timeoutMs: 3_000, tests: true });
    expect(receipt).toMatchObject({ passed: false, timedOut: true });
    expect(receipt.log.startsWith('y\ny\n')).toBe(true);
  });
});

describe('several gates', () => {
  const gatesOf = (...gates: (Omit<MissionGate, 'name'> & { name: string })[]) =>
    gates.map((gate) => MissionGate.parse(gate));

  it('are run in order until one fails, and what is said of it is for the next attempt', async () => {
    const told: GateEvent[] = [];
    const secret = 'sesame-open-now';
    const verdict = await runGates(
      gatesOf(
        { name: 'build', run: 'echo built' },
        {
          name: 'test',
          run: script("console.log('not ok 1 - adds', process.env.MY_TOKEN); process.exit(1)"),
          passEnv: ['MY_TOKEN'],
        },
        { name: 'lint', run: 'echo > linted' },
      ),
      {
        cwd: worktree,
        logFolder: join(folder.path, 'gates'),
        env: { ...env, MY_TOKEN: secret },
        clock: wallClock,
        newMark,
        report: (event) => told.push(event),
      },
    );
    expect(verdict).toMatchObject({
      passed: false,
      receipts: [
        { gate: 'build', passed: true },
        { gate: 'test', passed: false, exitCode: 1 },
      ],
      notRun: ['lint'],
    });
    expect(verdict.feedback).toMatch(/^The gate "test" failed: exit code 1\.\nIts command: /);
    expect(verdict.feedback).toContain('The end of its output:\nnot ok 1 - adds [hidden]\n');
    expect(verdict.feedback).toContain('Not run, because this one failed: lint.');
    expect(verdict.feedback).not.toContain(secret);
    expect(readFileSync(verdict.receipts[1]?.logFile ?? '', 'utf8')).toBe('not ok 1 - adds [hidden]\n');
    expect(existsSync(join(worktree, 'linted'))).toBe(false);
    expect(
      told.map((event) => [event.type, event.type === 'gate.started' ? event.gate : event.receipt.gate]),
    ).toEqual([
      ['gate.started', 'build'],
      ['gate.ended', 'build'],
      ['gate.started', 'test'],
      ['gate.ended', 'test'],
    ]);
  });

  it('get no token that they do not name, and each only those that it does', async () => {
    const says = script("console.log(process.env.MY_TOKEN ?? 'none', process.env.AWS_REGION ?? 'none')");
    const verdict = await runGates(
      gatesOf(
        { name: 'one', run: says, passEnv: ['AWS_REGION', 'UNSET'] },
        { name: 'two', run: says },
        { name: 'three', run: says, passEnv: ['MY_TOKEN'] },
      ),
      {
        cwd: worktree,
        logFolder: join(folder.path, 'named'),
        env: { ...env, MY_TOKEN: 'sesame-open-now', AWS_REGION: 'moon-1' },
        clock: wallClock,
        newMark,
      },
    );
    expect(verdict.passed).toBe(true);
    expect(verdict.receipts.map(({ logFile }) => readFileSync(logFile, 'utf8'))).toEqual([
      'none moon-1\n',
      'none none\n',
      '[hidden] none\n',
    ]);
  });

  it('pass when each does, with a log for each of them, also of the same name', async () => {
    const deps = { cwd: worktree, logFolder: join(folder.path, 'alike'), env, clock: wallClock, newMark };
    const verdict = await runGates(gatesOf({ name: 'a', run: 'echo 1' }, { name: 'a', run: 'echo 2' }), deps);
    expect(verdict).toMatchObject({ passed: true, notRun: [] });
    expect(verdict.receipts.map(({ logFile }) => readFileSync(logFile, 'utf8'))).toEqual(['1\n', '2\n']);
    expect(await runGates([], deps)).toEqual({ passed: true, receipts: [], notRun: [] });
  });
});
