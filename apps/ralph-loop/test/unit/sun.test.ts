import { describe, expect, it } from 'vitest';
import { assignTasks } from '../../agents/assign.ts';
import type { Candidate, OpenTask } from '../../agents/capabilities.ts';

const agent = (id: string, capabilities: string[], over: Partial<Candidate> = {}): Candidate => ({
  id,
  capabilities,
  status: 'running',
  waiting: 0,
  ...over,
});
const task = (id: string, capability: string, priority?: number): OpenTask => ({
  id,
  title: id,
  capability,
  ...(priority === undefined ? {} : { priority }),
});

const givenTo = (tasks: OpenTask[], roster: Candidate[]) =>
  assignTasks(tasks, roster).assignments.map(({ taskId, agent: to }) => `${taskId} ${to}`);

describe('SUN', () => {
  it('gives each task to an agent that offers its capability', () => {
    const roster = [agent('mars', ['types.check']), agent('jupiter', ['architecture.cycles'])];
    expect(givenTo([task('a', 'architecture.cycles'), task('t', 'types.check')], roster)).toEqual([
      'a jupiter',
      't mars',
    ]);
  });

  it('prefers who has the least before it, then the first by id', () => {
    const roster = [agent('c', ['work']), agent('b', ['work']), agent('a', ['work'], { waiting: 2 })];
    expect(givenTo([task('1', 'work')], roster)).toEqual(['1 b']);
  });

  it('counts what it gives out, so that a batch is spread', () => {
    const roster = [agent('a', ['work']), agent('b', ['work'])];
    const tasks = ['1', '2', '3', '4'].map((id) => task(id, 'work'));
    expect(givenTo(tasks, roster)).toEqual(['1 a', '2 b', '3 a', '4 b']);
  });

  it('lets the most urgent task choose first; those without a priority come last, in their order', () => {
    const tasks = [task('x', 'work'), task('y', 'work'), task('low', 'work', 9), task('top', 'work', 1)];
    expect(givenTo(tasks, [agent('a', ['work'])])).toEqual(['top a', 'low a', 'x a', 'y a']);
  });

  it('names a task that nobody can do, and why', () => {
    const roster = [
      agent('mars', ['types.check'], { status: 'failed' }),
      agent('moon', ['types.check'], { status: 'stopped' }),
    ];
    expect(assignTasks([task('t', 'types.check'), task('f', 'fly')], roster)).toEqual({
      assignments: [],
      unassignable: [
        { taskId: 't', reason: 'nobody is left who offers types.check: mars (failed), moon (stopped)' },
        { taskId: 'f', reason: 'nobody in the team offers fly' },
      ],
    });
  });

  it('does not give a task to who has declined it', () => {
    const roster = [agent('mars', ['work']), agent('venus', ['work'])];
    const declined = { ...task('t', 'work'), declined: ['mars'] };
    expect(givenTo([declined], roster)).toEqual(['t venus']);
    expect(assignTasks([declined], roster.slice(0, 1)).unassignable).toEqual([
      { taskId: 't', reason: 'nobody is left who offers work: mars (declined)' },
    ]);
  });

  it('waits for nobody: an agent that restarts may be given a task', () => {
    expect(givenTo([task('t', 'work')], [agent('a', ['work'], { status: 'restarting' })])).toEqual(['t a']);
  });

  it('says whom it has compared, why it has chosen one, and why others were out', () => {
    const roster = [
      agent('claude', ['work'], { waiting: 2 }),
      agent('codex', ['work'], { waiting: 1 }),
      agent('gemini', ['work']),
      agent('old', ['work'], { status: 'failed' }),
      agent('mars', ['fly']),
    ];
    const declined = { ...task('t', 'work'), declined: ['gemini'] };
    expect(assignTasks([declined], roster).assignments).toEqual([
      {
        taskId: 't',
        agent: 'codex',
        bids: [
          { agent: 'codex', load: 1 },
          { agent: 'claude', load: 2 },
          { agent: 'gemini', load: 0, out: 'declined' },
          { agent: 'old', load: 0, out: 'failed' },
        ],
        reason: 'it has the least to do',
      },
    ]);
  });

  it.each([
    { declined: [], reason: '2 have as little to do, and it is the first by name' },
    { declined: ['b'], reason: 'nobody else is left who offers work' },
  ])('gives the reason $reason', ({ declined, reason }) => {
    const roster = [agent('a', ['work']), agent('b', ['work'])];
    const [given] = assignTasks([{ ...task('t', 'work'), declined }], roster).assignments;
    expect(given).toMatchObject({ agent: 'a', reason });
  });

  it('compares with what it has given out just before', () => {
    const roster = [agent('a', ['work']), agent('b', ['work'])];
    const [, second] = assignTasks([task('1', 'work'), task('2', 'work')], roster).assignments;
    expect(second).toMatchObject({
      bids: [
        { agent: 'b', load: 0 },
        { agent: 'a', load: 1 },
      ],
    });
  });

  it('says nothing where only one agent could do it, and of a crowd a bounded part', () => {
    const [lone] = assignTasks([task('t', 'work')], [agent('a', ['work'])]).assignments;
    expect(lone).toEqual({ taskId: 't', agent: 'a' });
    const crowd = Array.from({ length: 100 }, (_, at) => agent(`a${at}`, ['work'], { waiting: at }));
    expect(assignTasks([task('t', 'work')], crowd).assignments[0]?.bids).toHaveLength(16);
  });
});
