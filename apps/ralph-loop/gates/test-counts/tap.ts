import { number, NO_TESTS, type SummaryFormat, sumOf, type TestSummary } from './test-summary.ts';

const POINT = /^( {0,60})(not )?ok\b/;
const DIRECTIVE = /#\s{0,4}(skip|todo)/i;
/** A file without tests, or whose tests were all left out by name: for node:test it is a test that has passed. */
const FILE = /^ok \d{1,9} - (?:\S{1,400}|(?:\/|[A-Za-z]:).{1,400})\.[cm]?[jt]sx?$/;
const TOTAL = /^# (tests|pass|fail|cancelled|skipped|todo)\s{1,3}(\d{1,9})$/;
const PLAN = /^1\.\.(\d{1,9})(?:\s|$)/;

/**
 * The Test Anything Protocol: `node --test --test-reporter=tap`, tape, bats and others.
 *
 * Its test points are what counts. A total at its end is a comment: it says which points are suites, and is not believed beyond the
 * points that were printed. A point that the plan promises and nobody printed has failed.
 */
export const tap: SummaryFormat = {
  name: 'TAP',
  reader: () => {
    let over: TestSummary | undefined;
    let document = new TapDocument(false);
    const current = (): TestSummary | undefined => {
      const last = document.summary();
      return last === undefined ? over : sumOf(over ?? NO_TESTS, last);
    };
    return {
      line: (text) => {
        if (/^TAP version \d/.test(text)) {
          over = current();
          document = new TapDocument(true);
        } else document.line(text);
      },
      summary: current,
    };
  },
};

class TapDocument {
  #plan: number | undefined;
  #outer = { passed: 0, failed: 0, skipped: 0 };
  #passedAnywhere = 0;
  #files = 0;
  #totals = new Map<string, number>();
  #hasBailedOut = false;
  /** Its first line says that it is TAP. */
  readonly #isTold: boolean;

  constructor(isTold: boolean) {
    this.#isTold = isTold;
  }

  line(text: string): void {
    const point = POINT.exec(text);
    if (point !== null) return this.#point(text, point);
    const [, name = '', total] = TOTAL.exec(text) ?? [];
    if (total !== undefined) this.#totals.set(name, number(total));
    const plan = PLAN.exec(text);
    if (plan !== null) this.#plan = number(plan[1]);
    if (text.startsWith('Bail out!')) this.#hasBailedOut = true;
  }

  summary(): TestSummary | undefined {
    const { passed, failed, skipped } = this.#outer;
    const points = passed + failed + skipped + this.#files;
    if (!this.#isTold && !this.#looksLikeOne(points)) return undefined;
    const missing = Math.max(0, (this.#plan ?? 0) - points) + (this.#hasBailedOut ? 1 : 0);
    const total = (name: string): number => this.#totals.get(name) ?? 0;
    if (!this.#totals.has('pass')) return { passed, failed: failed + missing, skipped };
    return {
      passed: Math.max(0, Math.min(total('pass') - this.#files, this.#passedAnywhere)),
      failed: Math.max(failed, total('fail') + total('cancelled')) + missing,
      skipped: Math.max(skipped, total('skipped') + total('todo')),
    };
  }

  /** Single words such as `ok`, comments and ranges are also in other texts. */
  #looksLikeOne(points: number): boolean {
    return this.#plan === 0 || (this.#plan !== undefined && points + this.#totals.size > 0);
  }

  #point(text: string, [, indent = '', not]: RegExpExecArray): void {
    const isOuter = indent === '';
    if (FILE.test(text)) {
      this.#files++;
    } else if (DIRECTIVE.test(text)) {
      if (isOuter) this.#outer.skipped++;
    } else if (not === undefined) {
      this.#passedAnywhere++;
      if (isOuter) this.#outer.passed++;
    } else if (isOuter) this.#outer.failed++;
  }
}
