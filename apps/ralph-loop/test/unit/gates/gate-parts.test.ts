import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, describe, expect, it } from 'vitest';
import { failureExcerpt } from '../../../gates/failure-excerpt.ts';
import { programOf, shownCommand } from '../../../gates/gate-command.ts';
import { gateEnvironment } from '../../../gates/gate-environment.ts';
import { gateFeedback } from '../../../gates/gate-feedback.ts';
import { GateLog } from '../../../gates/gate-log.ts';
import { protectedPathFaults } from '../../../gates/protected-paths.ts';
import { TemporaryFolder } from '../temporary-folder.ts';

const folder = new TemporaryFolder();
afterAll(() => folder[Symbol.dispose]());

describe('the command of a gate', () => {
  it('is shown as it would be typed, without secrets and what steers a terminal', () => {
    expect(shownCommand('npm test && npm run lint')).toBe('npm test && npm run lint');
    expect(shownCommand(['node', '-e', "console.log('a')", ''])).toBe(
      `node -e 'console.log('\\''a'\\'')' ''`,
    );
    expect(shownCommand('curl -H "Authorization: Bearer abcdefghijkl" x')).not.toContain('abcdefghijkl');
    expect(shownCommand('echo \x1b[2J')).toBe('echo \\x1b[2J');
  });

  it('goes to the shell as a line, and to no shell as a list', () => {
    expect(programOf('a | b', 'linux').args.slice(-3)).toEqual(['/bin/sh', '-c', 'a | b']);
    expect(programOf(['a', '| b'], 'linux').args.slice(-2)).toEqual(['a', '| b']);
    expect(programOf('a | b', 'win32')).toEqual({ command: 'cmd.exe', args: ['/d', '/s', '/c', 'a | b'] });
    expect(programOf(['a', 'b'], 'win32')).toEqual({ command: 'a', args: ['b'] });
  });
});

describe('the log of a gate', () => {
  const written = async (parts: readonly Uint8Array[], keptBytes: number) => {
    const path = join(folder.path, 'deep', 'gate.log');
    const log = await GateLog.open(path, keptBytes);
    for (const part of parts) void log.write(part);
    const kept = await log.close();
    const file = readFileSync(path);
    expect(kept).toEqual({ bytes: file.length, sha256: createHash('sha256').update(file).digest('hex') });
    return file.toString('latin1');
  };

  it('keeps the beginning and the end of any output, and says how much is left out between them', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.uint8Array({ maxLength: 40 }), { maxLength: 12 }),
        fc.integer({ min: 1, max: 50 }),
        async (parts, size) => {
          const whole = Buffer.concat(parts).toString('latin1');
          const leftOut = whole.length - 2 * size;
          const expected =
            leftOut <= 0
              ? whole
              : `${whole.slice(0, size)}\n[${leftOut} bytes are left out here]\n${whole.slice(-size)}`;
          expect(await written(parts, size)).toBe(expected);
        },
      ),
    );
  });
});

describe('the environment of a gate', () => {
  const own = {
    PATH: '/bin',
    HOME: '/home/me',
    NPM_TOKEN: 'abc',
    AWS_PROFILE: 'prod',
    DB: 'postgres://me:hunter22@db/x',
    INIT_CWD: '/elsewhere',
    NODE_TEST_CONTEXT: 'child-v8',
    GIT_DIR: '/elsewhere/.git',
    CI: 'no',
  };

  it('has no secrets, no ways to accounts and nothing of another run', () => {
    expect(gateEnvironment(own, { cwd: '/w' })).toEqual({
      PATH: '/bin',
      HOME: '/home/me',
      CI: 'true',
      PWD: '/w',
    });
  });

  it('has what is asked for by name', () => {
    expect(gateEnvironment(own, { cwd: '/w', passEnv: ['NPM_TOKEN', 'AWS_PROFILE', 'NOT_THERE'] })).toEqual({
      PATH: '/bin',
      HOME: '/home/me',
      NPM_TOKEN: 'abc',
      AWS_PROFILE: 'prod',
      CI: 'true',
      PWD: '/w',
    });
  });
});

describe('the feedback of a gate', () => {
  it('names gate, reason, command, what was not run and the end of its log', () => {
    const text = gateFeedback({ gate: 'test', command: 'npm test', why: 'exit code 1' }, 'a\nb\n', {
      notRun: ['lint', 'types'],
    });
    expect(text).toBe(
      'The gate "test" failed: exit code 1.\nIts command: npm test\n\nThe end of its output:\na\nb\n\nNot run, because this one failed: lint, types.',
    );
    expect(gateFeedback({ gate: 'test', command: 'true', why: 'exit code 1' }, '')).toContain(
      'It printed nothing.',
    );
  });

  it('shows the first failure where it is not at the end', () => {
    const log = `fine\n${' FAIL  a.test.ts > b\nAssertionError: expected 1 to be 2\n'}${'noise\n'.repeat(2_000)}`;
    const { first, end } = failureExcerpt(log);
    expect(first).toMatch(/^ FAIL {2}a\.test\.ts > b\nAssertionError: expected 1 to be 2\nnoise/);
    expect(end).toMatch(/^noise\n[\s\S]*noise$/);
    expect(failureExcerpt(' FAIL  a.test.ts > b\n')).toEqual({ end: ' FAIL  a.test.ts > b' });
  });

  it.each([
    'not ok 3 - c',
    'src/a.ts(3,1): error TS2304: no',
    'a.c:3:1: error: x',
    '--- FAIL: TestB (0.00s)',
    'E   assert 1 == 2',
    "thread 'tests::b' (21825) panicked at src/lib.rs:5:61:",
    'error[E0308]: mismatched types',
    'TypeError: x is not a function',
    '  ● a › b',
    '  1) two',
    '\x1b[31m✖ two (1.2ms)\x1b[39m',
  ])('finds a failure that begins with %j', (line) => {
    expect(failureExcerpt(`start\n${line}\n${'noise\n'.repeat(2_000)}`).first).toContain('noise');
  });

  it('has no secret, no value of one and nothing that steers a terminal, also where it is cut', () => {
    const secret = ['ghp', 'abcdefghijklmnopqrstuvwxyz0123456789'].join('_');
    for (let before = 3_900; before < 4_100; before++) {
      const log = `${'x\n'.repeat(3_000)}${secret} s3cr3t-value \x1b[2J\x07\u202e${'y'.repeat(before)}\n`;
      const { end } = failureExcerpt(log, ['s3cr3t-value']);
      expect(end.length).toBeLessThanOrEqual(4_000);
      expect(end).not.toMatch(/[a-z0-9]{10}0123456789|cr3t-value|[^\P{Cc}\n\t]|\u202e/u);
    }
  });

  it('is bounded for any log', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 200 }), fc.nat(500), (piece, times) => {
        const { first = '', end } = failureExcerpt(piece.repeat(times));
        expect(first.length).toBeLessThanOrEqual(1_000);
        expect(end.length).toBeLessThanOrEqual(4_000);
      }),
    );
  });
});

describe('protected files', () => {
  it('that were changed are faults, each with the pattern that protects it', () => {
    const matches = new Map([
      ['*.lock', ['b.lock']],
      ['ci', ['ci/a.yml', 'b.lock']],
      ['docs', ['docs/not-changed.md']],
    ]);
    expect(protectedPathFaults(['src/a.ts', 'ci/a.yml', 'b.lock'], matches)).toEqual([
      'changed a protected file: b.lock (protected by "*.lock")',
      'changed a protected file: ci/a.yml (protected by "ci")',
    ]);
    expect(protectedPathFaults(['src/a.ts'], matches)).toEqual([]);
  });

  it('are named up to twenty, by names that steer no terminal', () => {
    const paths = Array.from({ length: 25 }, (_, index) => `${String(index).padStart(2, '0')}\x1b[2J`);
    const faults = protectedPathFaults(paths, new Map([['*', paths]]));
    expect(faults).toHaveLength(21);
    expect(faults[0]).toBe('changed a protected file: 00\\x1b[2J (protected by "*")');
    expect(faults[20]).toBe('changed 5 more protected files');
  });
});
