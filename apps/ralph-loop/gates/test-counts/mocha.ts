import { Runs } from './runs.ts';
import { number, type SummaryFormat } from './test-summary.ts';

const COUNT = /^ {2}(\d{1,9}) (?:(passing) \([\d.]{1,12} ?[a-z]{1,2}\)|(pending)|(failing))$/;

/** Mocha and Cypress: `3 passing (10ms)`, and after it `1 pending` and `1 failing`. */
export const mocha: SummaryFormat = {
  name: 'mocha',
  reader: () => {
    const runs = new Runs();
    return {
      line: (text) => {
        const [, digits, passing, pending] = COUNT.exec(text) ?? [];
        if (digits === undefined) return;
        const count = number(digits);
        if (passing !== undefined) runs.add({ passed: count, failed: 0, skipped: 0 });
        else if (pending !== undefined) runs.addToLast({ passed: 0, failed: 0, skipped: count });
        else runs.addToLast({ passed: 0, failed: count, skipped: 0 });
      },
      summary: () => runs.summary(),
    };
  },
};
