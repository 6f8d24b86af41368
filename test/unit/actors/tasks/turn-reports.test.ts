import { describe, expect, it } from 'vitest';
import type { Json } from '../../../../actors/tasks/task-log.ts';
import type { Turn } from '../../../../actors/tasks/task-turns.ts';
import { memoOf } from '../../../../actors/tasks/turn-plan.ts';
import { TurnReports } from '../../../../actors/tasks/turn-reports.ts';
import { isPartialArtifact } from '../../../../runtime/protocol/a2a-extension.ts';
import type { Artifact, TaskMessage } from '../../../../runtime/protocol/task.ts';
import { FakeClock } from '../../../fixtures/fake-clock.ts';

/** Reports of one turn after the other: what is remembered goes on. */
function setUp(remembered?: Json) {
  const clock = new FakeClock();
  const said: unknown[] = [];
  const memos: Json[] = [];
  const partials: Artifact[] = [];
  const turn = {
    number: 2,
    working: (message?: TaskMessage) => said.push(message?.parts[0]),
    artifact: ({ parts }: Artifact, { append }: { append: boolean }) => said.push([append, parts[0]]),
    partial: (artifact: Artifact) => partials.push(artifact),
    remember: (memo: Json) => memos.push(memo),
  } as unknown as Turn;
  const begun = memoOf(remembered ?? { approvals: [], turn: { number: 2, reports: 0 } });
  const reports = new TurnReports({ clock, newId: () => 'id', turn, memo: begun });
  const report = (run: string, n: number, what: object): void =>
    reports.hear({ fraction: 0, report: { task: { run, n, ...what } } });
  const say = (run: string, n: number): void => report(run, n, { say: [{ text: `${run}${n}` }] });
  return { clock, said, memos, partials, reports, report, say };
}

describe('What an agent reports of its task', () => {
  it('counts once, in order, whoever tells it again, and begins anew with another attempt', () => {
    const { said, memos, say } = setUp();
    for (const n of [1, 2, 2, 1, 4]) say('a', n);
    // Of what was told while nobody heard is told again: nothing is passed over.
    for (const n of [1, 2, 3, 4]) say('a', n);
    for (const n of [2, 1, 2]) say('b', n);
    expect(said).toEqual(['a1', 'a2', 'a3', 'a4', 'b1', 'b2'].map((text) => ({ text })));
    const next = setUp(memos.at(-1));
    for (const n of [1, 2, 3]) next.say('b', n);
    expect(next.said).toEqual([{ text: 'b3' }]);
  });

  it('goes on after what was too much to be kept, and says how much that was', () => {
    const { said, memos, reports, say } = setUp();
    for (const n of [1, 2]) say('a', n);
    reports.hear({ fraction: 1, dropped: 5 });
    // Only what was dropped is passed over.
    for (const n of [7, 6, 7]) say('a', n);
    const dropped = { text: '3 reports were too much to be kept' };
    expect(said.slice(2)).toEqual([dropped, { text: 'a6' }, { text: 'a7' }]);
    const next = setUp(memos.at(-1));
    next.reports.hear({ fraction: 1, dropped: 5 });
    for (const n of [6, 7, 8]) next.say('a', n);
    expect(next.said).toEqual([{ text: 'a8' }]);
  });

  it('is shown, and remembered', () => {
    const { said, memos, report } = setUp({
      approvals: [
        { approvalId: 'p', hash: 'h', approved: true },
        { approvalId: 'q', hash: 'h', approved: true },
      ],
      turn: { number: 2, reports: 0 },
    });
    const artifact = { artifactId: 'a', parts: [{ text: 'x' }], append: true, lastChunk: false };
    report('r', 1, { artifact });
    report('r', 2, { state: { step: 1 } });
    report('r', 3, { usedApproval: 'p' });
    expect(said).toEqual([[true, { text: 'x' }]]);
    expect(memos.at(-1)).toMatchObject({
      state: { step: 1 },
      approvals: [{ approvalId: 'q' }],
      turn: { run: 'r', reports: 3 },
    });
  });

  it.each([
    ['of something else', { other: 1 }],
    ['without a number', { task: { run: 'r', say: [{ text: 'x' }] } }],
  ])('is nothing when it is %s', (_, report) => {
    const { said, memos, reports } = setUp();
    reports.hear({ fraction: 0, report });
    expect([said, memos]).toEqual([[], []]);
  });
});

describe('How far an agent says it is (A-10)', () => {
  it('is said four times a second at most, the last of each time, and at the end', () => {
    const { clock, said, reports } = setUp();
    const tell = (fraction: number, note?: string) => reports.hear({ fraction, ...(note && { note }) });
    tell(0.1);
    for (const n of [2, 3, 4]) tell(n / 10, `step ${n}`);
    clock.advance(249);
    expect(said).toEqual([{ text: '10 %' }]);
    clock.advance(1);
    expect(said).toEqual([{ text: '10 %' }, { text: 'step 4' }]);
    clock.advance(1_000);
    tell(0.5);
    tell(0.6);
    reports.end();
    expect(said.slice(2)).toEqual([{ text: '50 %' }, { text: '60 %' }]);
    expect(clock.pending).toBe(0);
  });

  it('is not what it keeps: that is shown when the work comes to nothing', () => {
    const { said, partials, reports } = setUp();
    reports.hear({ fraction: 0.5, partial: { rows: 3 } });
    reports.hear({ fraction: 0.5, partial: new Map() });
    expect(said).toEqual([]);
    const [partial] = partials;
    expect(partial).toMatchObject({
      artifactId: 'partial-2',
      name: 'partial',
      parts: [{ data: { rows: 3 } }],
    });
    expect(partials.map(isPartialArtifact)).toEqual([true]);
  });
});
