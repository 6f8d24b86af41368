import { Runs } from './runs.ts';
import { number, type SummaryFormat } from './test-summary.ts';

const RAN = /^Ran (\d{1,9}) tests? in [\d.]{1,12}s$/;
const VERDICT = /^(OK|FAILED|NO TESTS RAN)(?: \(([a-z=\d, ]{1,200})\))?$/;

/** Python's unittest, and Django: `Ran 3 tests in 0.001s`, and after it `OK (skipped=1)` or `FAILED (failures=1)`. */
export const unittest: SummaryFormat = {
  name: 'unittest',
  reader: () => {
    const runs = new Runs();
    let ran: number | undefined;
    return {
      line: (text) => {
        const count = RAN.exec(text);
        if (count !== null) ran = number(count[1]);
        const verdict = VERDICT.exec(text);
        if (verdict === null || ran === undefined) return;
        const of = (name: string): number =>
          number(new RegExp(`(?:^|, )${name}=(\\d{1,9})`).exec(verdict[2] ?? '')?.[1]);
        const failed = of('failures') + of('errors') + of('unexpected successes');
        const skipped = of('skipped') + of('expected failures');
        const isFailed = verdict[1] === 'FAILED' && failed === 0;
        runs.add({ passed: Math.max(0, ran - failed - skipped), failed: isFailed ? 1 : failed, skipped });
        ran = undefined;
      },
      summary: () => runs.summary(),
    };
  },
};
