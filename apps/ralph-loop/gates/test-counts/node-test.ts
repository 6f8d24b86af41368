import { Runs } from './runs.ts';
import { number, type SummaryFormat } from './test-summary.ts';

const TOTAL = /^ℹ (tests|suites|pass|fail|cancelled|skipped|todo|duration_ms) (\d{1,9})/;

/** A file without tests, or whose tests were all left out by name: it counts for node:test as a test that has passed. */
const FILE = /^✔ (?:\S{1,400}|(?:\/|[A-Za-z]:).{1,400})\.[cm]?[jt]sx? \([\d.]{1,20}ms\)$/;

/**
 * `node --test`: totals of its spec reporter, from `ℹ tests` to `ℹ duration_ms`. A part of them counts as nothing, and so does a
 * file that has passed without a test.
 */
export const nodeTest: SummaryFormat = {
  name: 'node:test',
  reader: () => {
    const runs = new Runs();
    let totals = new Map<string, number>();
    let files = 0;
    return {
      line: (text) => {
        if (FILE.test(text)) files++;
        const [, name, digits] = TOTAL.exec(text) ?? [];
        if (name === undefined) return;
        if (name === 'tests') totals = new Map();
        totals.set(name, number(digits));
        const total = (of: string): number => totals.get(of) ?? 0;
        if (name !== 'duration_ms' || !totals.has('tests')) return;
        runs.add({
          passed: Math.max(0, total('pass') - files),
          failed: total('fail') + total('cancelled'),
          skipped: total('skipped') + total('todo'),
        });
        totals = new Map();
        files = 0;
      },
      summary: () => runs.summary(),
    };
  },
};
