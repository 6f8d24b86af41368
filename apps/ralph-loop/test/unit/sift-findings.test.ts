import { describe, expect, it } from 'vitest';
import { Baseline } from '../../report/baseline.ts';
import type { ReportedFinding } from '../../report/mission-report.ts';
import { siftFindings } from '../../report/sift-findings.ts';
import { finding } from './fake-team.ts';

const found = (id: string, over: Partial<ReportedFinding> = {}): ReportedFinding => ({
  ...finding({ id, rule: `lint/${id}`, message: `About ${id}.` }),
  task: 'types',
  ...over,
});
const ids = (findings: readonly { readonly id: string }[]) => findings.map(({ id }) => id);

describe('the level of a rule', () => {
  const all = [
    found('a', { rule: 'oxlint/typescript/no-any' }),
    found('b', { rule: 'oxlint/no-debugger', line: 4 }),
    found('c', { rule: 'oxlinter/no-debugger', line: 5 }),
  ];

  it('takes its findings off the list, and keeps them as suppressed', () => {
    const { findings, suppressed } = siftFindings(all, { levels: new Map([['oxlint', 'off']]) });
    expect(ids(findings)).toEqual(['c']);
    expect(suppressed.map(({ finding: { id }, by }) => [id, by])).toEqual([
      ['a', 'rule'],
      ['b', 'rule'],
    ]);
  });

  it('says how severe they are; the longest name counts', () => {
    const levels = new Map([
      ['oxlint', 'off'],
      ['oxlint/typescript', 'low'],
      ['oxlint/typescript/no-any', 'critical'],
    ] as const);
    const { findings } = siftFindings(all, { levels });
    expect(findings.map(({ id, severity }) => [id, severity])).toEqual([
      ['a', 'critical'],
      ['c', 'high'],
    ]);
  });
});

describe('what several tools say of one line', () => {
  it('is listed once, by the most severe, when they mean the same rule or use the same words', () => {
    const { findings } = siftFindings([
      found('mild', { severity: 'low', rule: 'eslint/no-eval', agent: 'mars' }),
      found('severe', { rule: 'oxlint/eslint/no-eval', agent: 'enceladus', task: 'security' }),
      found('words', { severity: 'info', rule: 'x/y', agent: 'io', message: 'about SEVERE' }),
      found('other', { severity: 'info', rule: 'x/z', agent: 'io' }),
    ]);
    expect(ids(findings)).toEqual(['severe', 'other']);
    expect(findings[0]?.also).toEqual([
      { rule: 'eslint/no-eval', agent: 'mars', task: 'types' },
      { rule: 'x/y', agent: 'io', task: 'types' },
    ]);
  });

  it('is two things where one rule finds two in a line, and elsewhere', () => {
    const rule = 'lint/no-eval';
    const { findings } = siftFindings([
      found('one', { rule, column: 3 }),
      found('two', { rule, column: 9 }),
      found('three', { rule, line: 8 }),
    ]);
    expect(ids(findings)).toEqual(['one', 'two', 'three']);
  });

  it('is one thing where two agents use one rule', () => {
    const rule = 'lint/no-eval';
    const { findings } = siftFindings([
      found('one', { rule, column: 3, agent: 'io' }),
      found('two', { rule, column: 3, agent: 'mars' }),
      found('three', { rule, column: 9, agent: 'mars' }),
    ]);
    expect(ids(findings)).toEqual(['one', 'three']);
  });
});

describe('a baseline', () => {
  const baselineOf = (findings: readonly ReportedFinding[], suppressed: unknown[] = []) =>
    Baseline.parse({ format: 'orrery-report', findings, suppressed });

  it('takes what was there before off the list, also where it has moved', () => {
    const before = [found('a'), found('moved', { line: 7 })];
    const now = [found('a'), found('moved', { id: 'elsewhere', line: 9 }), found('new', { line: 2 })];
    const { findings, suppressed } = siftFindings(now, { baseline: baselineOf(before) });
    expect(ids(findings)).toEqual(['new']);
    expect(suppressed.map(({ finding: { id }, by }) => [id, by])).toEqual([
      ['a', 'baseline'],
      ['elsewhere', 'baseline'],
    ]);
  });

  it('counts: what is there once more than before is new', () => {
    const same = (id: string, line: number) => found(id, { rule: 'lint/x', message: 'Same.', line });
    const { findings } = siftFindings([same('n1', 3), same('n2', 5)], {
      baseline: baselineOf([same('o1', 2)]),
    });
    expect(ids(findings)).toEqual(['n2']);
  });

  it('knows what a report with a baseline of its own had left out, but not what was off', () => {
    const baseline = baselineOf(
      [],
      [
        { finding: found('a'), by: 'baseline' },
        { finding: found('b'), by: 'rule' },
      ],
    );
    expect(ids(siftFindings([found('a'), found('b', { line: 8 })], { baseline }).findings)).toEqual(['b']);
  });
});
