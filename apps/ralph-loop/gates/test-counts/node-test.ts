import { Runs } from './runs.ts';
import { number, type SummaryFormat } from './test-summary.ts';

const TOTAL = /^ℹ (tests|suites|pass|fail|cancelled|skipped|todo|duration_ms) (\d{1,9})/;

/** `node --test`: totals of its spec reporter, from `ℹ tests` to `ℹ duration_ms`. A part of them counts as nothing. */
export const nodeTest: SummaryFormat = {
  name: 'node:test',
  reader: () => {
    const runs = new Runs();
    let totals = new Map<string, number>();
    return {
      line: (text) => {
        const [, name, digits] = TOTAL.exec(text) ?? [];
        if (name === undefined) return;
        if (name === 'tests') totals = new Map();
        totals.set(name, number(digits));
        const total = (of: string): number => totals.get(of) ?? 0;
        if (name !== 'duration_ms' || !totals.has('tests')) return;
        runs.add({
          passed: total('pass'),
          failed: total('fail') + total('cancelled'),
          skipped: total('skipped') + total('todo'),
        });
        totals = new Map();
      },
      summary: () => runs.summary(),
    };
  },
};
