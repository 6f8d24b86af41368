import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join, relative } from 'node:path';
import { z } from 'zod';
import { endStrays } from './strays.ts';

const VITEST = join(dirname(createRequire(import.meta.url).resolve('vitest/package.json')), 'vitest.mjs');
const REPORT = '.scratch-report.json';
const OUTPUT_KEPT = 4_000;

/** What is read of Vitest's JSON report. */
const Report = z.object({
  testResults: z.array(
    z.object({
      name: z.string(),
      startTime: z.number(),
      endTime: z.number(),
      status: z.enum(['passed', 'failed']),
      message: z.string(),
      assertionResults: z.array(
        z.object({
          ancestorTitles: z.array(z.string()),
          title: z.string(),
          status: z.string(),
          failureMessages: z.array(z.string()),
        }),
      ),
    }),
  ),
});

/** A test that failed. `isTimeout`: it did not end in the time that every test has. */
export interface FailedTest {
  readonly file: string;
  readonly title: string;
  readonly message: string;
  readonly isTimeout: boolean;
}

/** One test file of a run; `fault` is why it failed apart from its tests. */
export interface FileRun {
  readonly file: string;
  readonly seconds: number;
  readonly passed: number;
  readonly failed: readonly FailedTest[];
  readonly fault: string | undefined;
}

/**
 * How some test files ran.
 *
 * - `isOverdue` they did not end within their limit, and were ended.
 * - `output`    the last that was printed.
 */
export interface SuiteRun {
  readonly files: readonly FileRun[];
  readonly exitCode: number | undefined;
  readonly isOverdue: boolean;
  readonly seconds: number;
  readonly output: string;
}

/**
 * - `limitMs` after so long the run is ended, with all that it has started.
 * - `signal`  ends it likewise.
 * - `bail`    stops at the first test that fails. @default false
 */
export interface SuiteRunOptions {
  readonly limitMs: number;
  readonly signal: AbortSignal;
  readonly bail?: boolean;
}

/** Runs test files of the copy in `folder`. */
export async function runSuites(
  folder: string,
  suites: readonly string[],
  { limitMs, signal, bail = false }: SuiteRunOptions,
): Promise<SuiteRun> {
  signal.throwIfAborted();
  const startedMs = performance.now();
  const report = join(folder, REPORT);
  rmSync(report, { force: true });
  const files = [...new Set(suites.map((suite) => join(folder, suite)))];
  const options = ['--reporter=json', `--outputFile=${report}`, ...(bail ? ['--bail=1'] : [])];
  const child = spawn(process.execPath, [VITEST, 'run', ...options, ...files], {
    cwd: folder,
    env: { ...process.env, NO_COLOR: '1', FORCE_COLOR: '0' },
    stdio: ['ignore', 'pipe', 'pipe'],
    // A group of its own: what the tests start goes with it.
    detached: true,
  });
  let output = '';
  const note = (text: string): void => {
    output = `${output}${text}`.slice(-OUTPUT_KEPT);
  };
  child.stdout.setEncoding('utf8').on('data', note);
  child.stderr.setEncoding('utf8').on('data', note);
  let isOverdue = false;
  const timer = setTimeout(() => {
    isOverdue = true;
    killGroup(child.pid);
  }, limitMs);
  const onAbort = (): void => killGroup(child.pid);
  signal.addEventListener('abort', onAbort, { once: true });
  const [exitCode] = (await once(child, 'exit')) as [number | null];
  clearTimeout(timer);
  signal.removeEventListener('abort', onAbort);
  // A test that was cut off may have left something running, and so may a bug, in a group of its own.
  killGroup(child.pid);
  endStrays(folder);
  signal.throwIfAborted();
  return {
    files: isOverdue ? [] : readReport(report, folder),
    exitCode: exitCode ?? undefined,
    isOverdue,
    seconds: (performance.now() - startedMs) / 1_000,
    output,
  };
}

function readReport(report: string, folder: string): readonly FileRun[] {
  if (!existsSync(report)) return [];
  const { testResults } = Report.parse(JSON.parse(readFileSync(report, 'utf8')));
  return testResults.map(({ name, startTime, endTime, status, message, assertionResults }) => {
    const file = relative(folder, name);
    const failed = assertionResults
      .filter((test) => test.status === 'failed')
      .map(({ ancestorTitles, title, failureMessages }): FailedTest => {
        const [first = ''] = failureMessages;
        return {
          file,
          title: [...ancestorTitles, title].filter((part) => part !== '').join(' > '),
          message: first,
          isTimeout: /^Error: (Test|Hook) timed out in \d+ms/.test(first),
        };
      });
    const isBroken = status === 'failed' && failed.length === 0;
    return {
      file,
      seconds: (endTime - startTime) / 1_000,
      passed: assertionResults.filter((test) => test.status === 'passed').length,
      failed,
      fault: isBroken ? message || 'it failed outside of its tests' : undefined,
    };
  });
}

function killGroup(pid: number | undefined): void {
  if (pid === undefined) return;
  try {
    process.kill(-pid, 'SIGKILL');
  } catch {
    // It is gone already.
  }
}
