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
});
