import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { countTests, SUMMARY_FORMATS, TestCounter } from '../../../gates/count-tests.ts';
import { RUNNER_LOGS } from './runner-logs.ts';

describe('the tests in an output', () => {
  it.each(RUNNER_LOGS)('are counted in %s', (_title, log, count) => {
    expect(countTests(log)).toEqual(count);
  });

  it.each(RUNNER_LOGS)('are counted alike with other line ends, in %s', (_title, log, count) => {
    expect(countTests(log.replaceAll('\n', '\r\n'))).toEqual(count);
  });

  it.each(RUNNER_LOGS)('are counted alike however the output is cut, in %s', (_title, log, count) => {
    fc.assert(
      fc.property(fc.array(fc.nat(log.length), { maxLength: 20 }), (cuts) => {
        const counter = new TestCounter();
        const places = [0, ...[...cuts].sort((a, b) => a - b), log.length];
        for (const [index, place] of places.entries())
          counter.write(log.slice(places[index - 1] ?? 0, place));
        expect(counter.end()).toEqual(count);
      }),
    );
  });

  it('are shown by a log here for each format', () => {
    const shown = new Set(RUNNER_LOGS.map(([, , { by }]) => by));
    expect(SUMMARY_FORMATS.filter(({ name }) => !shown.has(name))).toEqual([]);
  });

  it('are not there where nothing sums them up', () => {
    expect(countTests('all tests pass\nok\n3 files checked in 2s\nDone.\n')).toBeUndefined();
    expect(countTests('')).toBeUndefined();
  });

  it('are those of all packages of a workspace, also by several runners', () => {
    const vitest = ' RUN  v5.1.1 /a\n Test Files  1 passed (1)\n      Tests  2 passed (2)\n';
    const pytest = '=== test session starts ===\n=== 3 passed, 1 skipped in 0.1s ===\n';
    expect(countTests(`${vitest}${vitest}${pytest}`)).toEqual({
      passed: 7,
      failed: 0,
      skipped: 1,
      by: 'vitest, pytest',
    });
  });
});

describe('a summary that a test prints', () => {
  it.each([
    [
      'vitest',
      ' RUN  v5.1.1 /a\n      Tests  900 passed (900)\n      Tests  2 passed (2)\n',
      { passed: 2, failed: 0, skipped: 0, by: 'vitest' },
    ],
    [
      'pytest',
      '=== test session starts ===\n=== 900 passed in 0.1s ===\n=== no tests ran in 0.1s ===\n',
      { passed: 0, failed: 0, skipped: 0, by: 'pytest' },
    ],
    [
      'cargo test',
      'running 1 test\ntest result: ok. 900 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out\ntest result: ok. 1 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out\n',
      { passed: 1, failed: 0, skipped: 0, by: 'cargo test' },
    ],
    [
      'TAP',
      'TAP version 13\n# tests 900\n# pass 900\nok 1 - a\n1..1\n# tests 1\n# pass 1\n# fail 0\n',
      { passed: 1, failed: 0, skipped: 0, by: 'TAP' },
    ],
    [
      'playwright',
      'Running 1 test using 1 worker\n  1 passed (1.2s)\n',
      { passed: 1, failed: 0, skipped: 0, by: 'playwright' },
    ],
  ])('does not count over the last one of %s', (_runner, log, count) => {
    expect(countTests(log)).toEqual(count);
  });

  it('in TAP counts for no more than the points that were printed', () => {
    expect(countTests('TAP version 13\n1..0\n# tests 900\n# pass 900\n# fail 0\n')).toMatchObject({
      passed: 0,
    });
  });

  it('in TAP hides no point that has failed', () => {
    expect(countTests('TAP version 13\nnot ok 1 - a\n1..1\n# tests 1\n# pass 1\n# fail 0\n')).toMatchObject({
      failed: 1,
    });
  });

  it('plainly hides no failure that another line says', () => {
    expect(countTests('3 passed, 2 failed\n5 passed, 0 failed\n')).toMatchObject({ passed: 5, failed: 2 });
  });
});

describe('any output', () => {
  const piece = fc.oneof(
    fc.string({ unit: 'binary' }),
    fc.constantFrom(...RUNNER_LOGS.flatMap(([, log]) => log.split('\n'))),
    fc.constantFrom('\n', '\r\n', '\x1b[31m', ' ', '99999999999999', '1'),
  );

  it('is read without an error, and comes to whole numbers', () => {
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 60 }), (pieces) => {
        const count = countTests(pieces.join(''));
        const numbers = count === undefined ? [] : [count.passed, count.failed, count.skipped];
        for (const number of numbers) expect(Number.isSafeInteger(number) && number >= 0).toBe(true);
      }),
      { numRuns: 500 },
    );
  });

  it('is read in memory that does not grow with it: a line without an end is kept to its first 2,000 characters', () => {
    const counter = new TestCounter();
    const part = 'x'.repeat(1_000_000);
    for (let written = 0; written < 300; written++) counter.write(part);
    counter.write('\n5 passed, 0 failed\n');
    expect(counter.end()).toMatchObject({ passed: 5 });
  });
});
