import type { LoopEvent, MissionProgress } from '@orrery/ralph-loop';
import { describe, expect, it } from 'vitest';
import { Summaries } from '../../summaries.ts';

type Accepted = Parameters<MissionProgress['accept']>[1];

const context = (summary: string): Accepted =>
  ({ result: { findings: [], notes: [], summary } }) as unknown as Accepted;
const changed = (task: string): LoopEvent => ({
  ...{ type: 'task.changed', atMs: 1, task, title: task, status: 'accepted', attempt: 1 },
  ...{ agent: 'mars', why: 'because', findings: [] },
});

describe('summaries', () => {
  it('are those of the tasks that were accepted, in this run or in one before, and the journal keeps what it would', async () => {
    const keeps: string[] = [];
    const summaries = new Summaries({
      runId: 'r',
      accepted: new Map([['old', context('kept before')]]),
      accept: async (task) => void keeps.push(task),
    });
    await summaries.progress.accept('new', context('heard now'));
    expect(keeps).toEqual(['new']);
    const said = ['old', 'new', 'other'].map((task) => summaries.added(changed(task)).summary);
    expect(said).toEqual(['kept before', 'heard now', undefined]);
  });

  it('are heard where no journal is', async () => {
    const summaries = new Summaries();
    await summaries.progress.accept('count', context('3 findings'));
    expect(summaries.added(changed('count')).summary).toBe('3 findings');
  });
});
