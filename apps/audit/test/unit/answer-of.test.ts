import type { Finding } from '@orrery/ralph-loop';
import { describe, expect, it } from 'vitest';
import { answerOf } from '../../answer-of.ts';
import type { AuditAnswer } from '../../audit-answer.ts';
import type { ToolOutcome } from '../../run-tool.ts';

const TOOLS = [
  { name: 'one', nothing: 'no ones' },
  { name: 'two', nothing: 'no twos' },
];

const finding = (id: string, severity: Finding['severity'] = 'low'): Finding => ({
  id,
  rule: 'one/rule',
  severity,
  file: 'a.ts',
  line: 1,
  message: 'It is wrong.',
  evidence: 'a',
  lineSha256: '0'.repeat(64),
  agent: 'tester',
});

const report = (...findings: Finding[]): ToolOutcome => ({
  report: {
    findings,
    notes: [{ kind: 'binary', file: 'b.png', reason: 'is binary' }],
    filesSeen: 3,
    bytesSeen: 9,
  },
});

const answer = (...outcomes: ToolOutcome[]): AuditAnswer => answerOf(TOOLS, [], outcomes) as AuditAnswer;

describe('the answer of a planet', () => {
  it('has the findings of all tools, the most severe first, each once, and what is noted once', () => {
    const { findings, notes, filesSeen } = answer(
      report(finding('a')),
      report(finding('a'), finding('b', 'high')),
    );
    expect(findings.map(({ id }) => id)).toEqual(['b', 'a']);
    expect(notes).toEqual([{ kind: 'binary', file: 'b.png', reason: 'is binary' }]);
    expect(filesSeen).toBe(3);
  });

  it('keeps what the others found when a tool dies, and names it', () => {
    const { findings, notes } = answer({ died: 'one died' }, report(finding('a')));
    expect(findings).toHaveLength(1);
    expect(notes).toContainEqual({ kind: 'tool-died', reason: 'one died' });
  });

  it('is a refusal when every tool that had something to read died', () => {
    expect(answerOf(TOOLS, [], [{ died: 'one died' }, { nothing: 'no pages' }])).toEqual({
      refusal: 'one died',
    });
  });

  it('says what there was not when no tool had anything to read', () => {
    expect(answer({ nothing: 'no pages' }, { nothing: 'no styles' })).toMatchObject({
      nothing: 'no pages, no styles',
    });
    expect(answer({ nothing: 'no pages' }, report())).not.toHaveProperty('nothing');
  });

  it('says so too when a tool was given files and none was for it, but not when it could read none', () => {
    const none = { findings: [], notes: [], filesSeen: 0, bytesSeen: 0 };
    expect(answer({ report: none }, { nothing: 'no styles' })).toMatchObject({
      nothing: 'no ones, no styles',
    });
    const notes = [{ kind: 'unparsable', file: 'a.css', reason: 'cannot be looked at' }];
    const unread = answer({ report: { ...none, notes } }, { nothing: 'no styles' });
    expect(unread).not.toHaveProperty('nothing');
    expect(unread).toHaveProperty('summary', 'one: cannot be looked at');
  });

  it('says in its summary what keeps a whole project from being checked', () => {
    const reason = 'packages are missing, so types are not rated';
    const limited = {
      report: { findings: [], notes: [{ kind: 'not-installed', reason }], filesSeen: 3, bytesSeen: 9 },
    };
    expect(answer(limited, report(finding('a')))).toHaveProperty('summary', `one: ${reason}`);
    expect(answer(report(), report())).not.toHaveProperty('summary');
  });

  it('counts findings and notes past what anybody reads', () => {
    const many = Array.from({ length: 2_003 }, (_, index) => finding(`f${index}`));
    const { findings, notes } = answerOf(
      TOOLS,
      Array.from({ length: 14 }, (_, index) => ({
        kind: 'too-large',
        file: `f${index}`,
        reason: 'is large',
      })),
      [report(...many)],
    ) as AuditAnswer;
    expect(findings).toHaveLength(2_000);
    expect(notes).toContainEqual({
      kind: 'findings-left-out',
      reason: expect.stringContaining('3 more findings'),
    });
    expect(notes).toContainEqual({ kind: 'too-large', reason: '4 more like these' });
  });
});
