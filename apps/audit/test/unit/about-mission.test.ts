import type { EarlierResult, Finding } from '@orrery/ralph-loop';
import { describe, expect, it } from 'vitest';
import { Baseline, compareReports } from '../../about-mission/compare-reports.ts';
import { countFindings } from '../../about-mission/count-findings.ts';
import { listUnread } from '../../about-mission/list-unread.ts';
import { nameDeaths } from '../../about-mission/name-deaths.ts';

const finding = (file: string, { line = 1, text = 'a', rule = 'tool/rule' } = {}): Finding => ({
  id: `${file}:${line}`,
  rule,
  severity: 'medium',
  file,
  line,
  message: 'It is wrong.',
  evidence: text,
  lineSha256: text.padEnd(64, '0'),
  agent: 'tester',
});

const result = (id: string, more: Partial<EarlierResult> = {}): EarlierResult => ({
  id,
  title: id,
  capability: `${id}.check`,
  status: 'accepted',
  why: 'the gate approved it',
  agent: 'tester',
  place: 'thread-1',
  attempts: [
    { agent: 'tester', place: 'thread-1', number: 1, startedAtMs: 0, durationMs: 1_500, ended: 'accepted' },
  ],
  findings: [],
  notes: [],
  ...more,
});

describe('the count of a mission', () => {
  it('says how much was found where and by what, and what it took', () => {
    const findings = [
      finding('src/a.ts'),
      finding('src/a.ts', { line: 2 }),
      finding('apps/x/b.ts', { rule: 'other/r' }),
    ];
    const { summary, notes } = countFindings([result('types', { findings, filesSeen: 7 }), result('docs')]);
    expect(summary).toBe(
      '3 findings in 2 files, most of them (2) in src/. 2 tasks took 3.0 seconds together, the longest (types) 1.5.',
    );
    const reasons = notes.map(({ kind, reason }) => `${kind} ${reason}`);
    expect(reasons).toEqual(
      expect.arrayContaining([
        'findings-by-severity medium: 3',
        'findings-by-area apps/x/: 1',
        'findings-by-file src/a.ts: 2',
        'findings-by-rule tool/rule: 2',
        'findings-by-tool other: 1',
        'duration types (tester): 1.5 s, 7 files seen',
      ]),
    );
  });

  it('says that nothing was found', () => {
    expect(countFindings([result('types')]).summary).toMatch(/^Nothing was found\. 1 task took/);
  });
});

describe('the deaths of a mission', () => {
  it('names tools that died, attempts that came to nothing, and tasks that were not done', () => {
    const lost = {
      agent: 'mars',
      place: 'thread-1',
      number: 1,
      startedAtMs: 0,
      durationMs: 1,
      ended: 'lost',
    } as const;
    const { summary, notes } = nameDeaths([
      result('types', {
        attempts: [{ ...lost, reason: 'its thread died' }],
        status: 'exhausted',
        why: 'twice lost',
      }),
      result('docs', { notes: [{ kind: 'tool-died', reason: 'remark ended with code 1' }] }),
    ]);
    expect(summary).toBe('1 tool died; 1 attempt came to nothing; 1 task was not done.');
    expect(notes.map(({ reason }) => reason)).toEqual([
      'docs: remark ended with code 1',
      'types, attempt 1 of mars (lost): its thread died',
      'types is exhausted: twice lost',
    ]);
  });

  it('says that there were none', () => {
    expect(nameDeaths([result('types'), result('styles', { status: 'nothing' })])).toEqual({
      summary: 'Nothing died, and nothing had to be tried again.',
      notes: [],
    });
  });
});

describe('the comparison with an earlier report', () => {
  it('tells what is new from what is gone, and takes a line that has moved for the same', () => {
    const earlier = Baseline.parse({
      format: 'orrery-report',
      startedAtMs: Date.UTC(2026, 0, 2, 3, 4),
      findings: [finding('a.ts', { line: 3 }), finding('a.ts', { line: 9 }), finding('gone.ts')],
    });
    const findings = [finding('a.ts', { line: 30 }), finding('a.ts', { line: 40, text: 'b' })];
    const { summary, notes } = compareReports([result('types', { findings })], earlier);
    expect(summary).toBe('Since the report of 2026-01-02 03:04: 1 new, 2 gone, 1 as before.');
    expect(notes.map(({ kind, file }) => `${kind} ${file}`)).toEqual([
      'new-finding a.ts',
      'gone-finding a.ts',
      'gone-finding gone.ts',
    ]);
  });
});

describe('what nobody has read', () => {
  it('lists files of kinds that no tool knows, and what was left out, each once', () => {
    const files = ['a.ts', 'b.png', 'c.png', 'Makefile'].map((path) => ({ path, bytes: 1 }));
    const tools = [{ takes: (file: string) => file.endsWith('.ts') }, { takes: () => true }];
    const large = { kind: 'too-large', file: 'd.ts', reason: 'is larger than 1024 KiB' };
    const { summary, notes } = listUnread({ files, notes: [large] }, tools, [
      result('types', { notes: [large, { kind: 'duration', reason: 'no matter' }] }),
    ]);
    expect(summary).toBe('1 of 4 files are of a kind that some tool knows; 1 of what there is was left out.');
    expect(notes).toEqual([
      { kind: 'no-tool', file: 'b.png', reason: 'no tool knows .png, nor 1 more of them' },
      { kind: 'no-tool', file: 'Makefile', reason: 'no tool knows Makefile' },
      large,
    ]);
  });
});
