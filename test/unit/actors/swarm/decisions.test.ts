import { describe, expect, it } from 'vitest';
import {
  decideAssignments,
  decideEnd,
  decideHopeless,
  decideInvitations,
  decideSubstitutes,
  hasFailed,
  uncovered,
} from '../../../../actors/swarm/swarm-decisions.ts';
import { aggregate, aggregateFaults, decideEnding } from '../../../../actors/swarm/swarm-outcome.ts';
import { latestEpochOf } from '../../../../actors/swarm/swarm-record.ts';
import type { Assignment, SwarmSubTask } from '../../../../actors/swarm/swarm-session.ts';
import { but, cardsOf, planOf, recordOf, withTeam } from './swarm-records.ts';

const ended = (agentId: string, epoch: number, end: Assignment['end']): Assignment => ({
  agentId,
  epoch,
  startedAtMs: 0,
  endedAtMs: 1,
  ...(end === undefined ? {} : { end }),
  ...(end === 'failed' || end === 'lost' ? { error: { code: 'REFUSED', message: 'no' } } : {}),
});

const idle = { loadOf: () => 0, heldBy: () => 0 };

const pairs = (assigned: readonly { subTaskId: string; agentId: string }[]) =>
  assigned.map(({ subTaskId, agentId }) => `${subTaskId}:${agentId}`).sort();

describe('Who gets a sub-task (N-8.2)', () => {
  it('is the least loaded of the willing agents that have all its capabilities', () => {
    const record = withTeam(recordOf(planOf(['x', 'y'])), 'willing', 'one', 'two', 'three', 'part');
    const cards = cardsOf({ one: ['x', 'y'], part: ['x'], two: ['x', 'y'], three: ['x', 'y'] });
    const loads: Record<string, number> = { one: 2, two: 1, three: 1, part: 0 };
    const decided = decideAssignments(record, { ...idle, cards, loadOf: (id) => loads[id] ?? 0 });
    expect(pairs(decided)).toEqual(['a:two']);
  });

  it('is nobody who declined, was silent, left, has not answered, or was never asked', () => {
    for (const standing of ['declined', 'silent', 'left', 'invited'] as const) {
      const record = withTeam(recordOf(planOf('x')), standing, 'one');
      expect(decideAssignments(record, { cards: cardsOf({ one: ['x'] }), ...idle })).toEqual([]);
    }
    expect(decideAssignments(recordOf(planOf('x')), { cards: cardsOf({ one: ['x'] }), ...idle })).toEqual([]);
  });

  it('is nobody who failed it or stalled over it, in favour of somebody who is busier', () => {
    for (const end of ['failed', 'stalled'] as const) {
      const record = withTeam(recordOf(planOf('x')), 'willing', 'one', 'two');
      const tried = but(record, 'a', { epoch: 1, assignments: [ended('one', 1, end)] });
      const cards = cardsOf({ one: ['x'], two: ['x'] });
      const decided = decideAssignments(tried, { ...idle, cards, loadOf: (id) => (id === 'two' ? 5 : 0) });
      expect(pairs(decided)).toEqual(['a:two']);
    }
  });

  it('may be somebody who lost it on the way, though sooner somebody who never had it', () => {
    const record = withTeam(recordOf(planOf('x')), 'willing', 'one', 'two');
    const tried = but(record, 'a', { epoch: 1, assignments: [ended('one', 1, 'lost')] });
    expect(pairs(decideAssignments(tried, { cards: cardsOf({ one: ['x'] }), ...idle }))).toEqual(['a:one']);
    const both = cardsOf({ one: ['x'], two: ['x'] });
    expect(pairs(decideAssignments(tried, { cards: both, ...idle }))).toEqual(['a:two']);
  });

  it('is spread over all who are able', () => {
    const record = withTeam(
      recordOf(planOf('x', 'x', 'x'), { maxPerAgent: 3 }),
      'willing',
      'one',
      'two',
      'three',
    );
    const cards = cardsOf({ one: ['x'], two: ['x'], three: ['x'] });
    expect(pairs(decideAssignments(record, { cards, ...idle }))).toEqual(['a:one', 'b:two', 'c:three']);
  });

  it('leaves those that few can do to these few', () => {
    const record = withTeam(recordOf(planOf('common', 'rare')), 'willing', 'both', 'plain');
    const cards = cardsOf({ both: ['common', 'rare'], plain: ['common'] });
    expect(pairs(decideAssignments(record, { cards, ...idle }))).toEqual(['a:plain', 'b:both']);
  });

  it('is never more than an agent has room for', () => {
    const record = withTeam(recordOf(planOf('x', 'x', 'x'), { maxPerAgent: 2 }), 'willing', 'one');
    const cards = cardsOf({ one: ['x'] });
    expect(decideAssignments(record, { cards, ...idle })).toHaveLength(2);
    expect(decideAssignments(record, { ...idle, cards, heldBy: () => 1 })).toHaveLength(1);
    expect(decideAssignments(record, { ...idle, cards, heldBy: () => 2 })).toEqual([]);
  });

  it('waits for what it depends on', () => {
    const [first, second] = planOf('x', 'x');
    const plan = [first, { ...second, dependsOn: ['a'] }] as ReturnType<typeof planOf>;
    const record = withTeam(recordOf(plan), 'willing', 'one', 'two');
    const cards = cardsOf({ one: ['x'], two: ['x'] });
    expect(pairs(decideAssignments(record, { cards, ...idle }))).toEqual(['a:one']);
    const done = but(record, 'a', { status: 'completed', assignedAgent: 'one' });
    expect(pairs(decideAssignments(done, { cards, ...idle }))).toEqual(['b:one']);
  });
});

describe('Who is proposed to (N-8.1)', () => {
  const cards = cardsOf({ none: ['z'], x: ['x'], both: ['x', 'y'], half: ['y'] });

  it('is everybody who could do some sub-task, and for what it could do', () => {
    const record = recordOf(planOf('x', ['x', 'y']));
    expect(decideInvitations(record, cards)).toEqual([
      { agentId: 'x', requiredCapabilities: ['x'] },
      { agentId: 'both', requiredCapabilities: ['x', 'y'] },
    ]);
  });

  it('is, later, who else could do what nobody willing can', () => {
    const record = withTeam(recordOf(planOf('x', 'y')), 'willing', 'x');
    const { subTasks } = record.session;
    expect(decideSubstitutes(record, cards, subTasks).map(({ agentId }) => agentId)).toEqual([
      'both',
      'half',
    ]);
    expect(decideSubstitutes(withTeam(record, 'invited', 'half'), cards, subTasks)).toEqual([]);
  });

  it('is nobody who declined or left, and who was silent once more', () => {
    const record = recordOf(planOf('x'));
    const only = cardsOf({ x: ['x'] });
    const { subTasks } = record.session;
    for (const standing of ['declined', 'left'] as const)
      expect(decideSubstitutes(withTeam(record, standing, 'x'), only, subTasks)).toEqual([]);
    const silent = withTeam(record, 'silent', 'x');
    expect(decideSubstitutes(silent, only, subTasks)).toHaveLength(1);
    const twice = { ...silent, team: silent.team.map((one) => ({ ...one, invitations: 2 })) };
    expect(decideSubstitutes(twice, only, subTasks)).toEqual([]);
  });

  it('covers a sub-task only by being willing', () => {
    const record = withTeam(recordOf(planOf('x', 'y')), 'willing', 'x');
    const missing = uncovered(withTeam(record, 'invited', 'half'), cards);
    expect(missing.map(({ id }) => id)).toEqual(['b']);
  });
});

describe('When a sub-task fails for good (N-8.5, N-V04)', () => {
  const cards = cardsOf({ one: ['x'], two: ['x'] });

  it('is when everybody has failed it: the error says who and with what', () => {
    const record = withTeam(recordOf(planOf('x')), 'willing', 'one', 'two');
    const once = but(record, 'a', { epoch: 1, assignments: [ended('one', 1, 'failed')] });
    expect(decideHopeless(once, cards)).toEqual([]);
    const twice = but(record, 'a', {
      epoch: 2,
      assignments: [ended('one', 1, 'failed'), ended('two', 2, 'stalled')],
    });
    const [hopeless] = decideHopeless(twice, cards);
    expect(hopeless).toMatchObject({ subTaskId: 'a', error: { code: 'REFUSED' } });
    expect(hopeless?.error.message).toContain('one failed: no; two stalled');
  });

  it('is not while somebody who could has not answered', () => {
    const record = withTeam(recordOf(planOf('x')), 'invited', 'one');
    expect(decideHopeless(record, cardsOf({ one: ['x'] }))).toEqual([]);
  });

  it('is when it was assigned too often, whoever is left', () => {
    const record = withTeam(recordOf(planOf('x'), { maxAssignments: 2 }), 'willing', 'one', 'two');
    const assignments = [ended('one', 1, 'left'), ended('one', 2, 'left')];
    expect(decideHopeless(but(record, 'a', { epoch: 2, assignments }), cards)).toHaveLength(1);
  });

  it('is when what it depends on did', () => {
    const plan = planOf('x', 'x').map((part) => (part.id === 'b' ? { ...part, dependsOn: ['a'] } : part));
    const record = withTeam(recordOf(plan), 'willing', 'one');
    expect(decideHopeless(record, cards)).toEqual([]);
    const failed = but(record, 'a', { status: 'failed', error: { code: 'POISON', message: 'bad' } });
    expect(decideHopeless(failed, cards)).toMatchObject([{ subTaskId: 'b' }]);
  });

  it('says that no agent has the capability, where none has', () => {
    const [hopeless] = decideHopeless(recordOf(planOf('q')), []);
    expect(hopeless?.error.code).toBe('CAPABILITY_NOT_FOUND');
    expect(hopeless?.error.message).toContain('no agent has q');
  });

  it.each([
    ['ACTOR_DIED', 'failed', false],
    ['REFUSED', 'failed', false],
    ['DEADLINE_EXCEEDED', 'failed', false],
    ['THREAD_DIED', 'lost', false],
    ['DELIVERY_FAILED', 'lost', false],
    ['NOT_HERE', 'lost', true],
    ['SUPERVISOR_GAVE_UP', 'lost', true],
    ['SANDBOX_VIOLATION', 'lost', true],
  ] as const)('%s ends an assignment as %s', (code, end, isGone) => {
    expect(decideEnd({ code }, { agentId: 'one' })).toEqual({ end, isGone });
  });

  it.each([
    ['AGENT_NOT_FOUND', { recipient: 'one', sender: 'owner' }, { end: 'lost', isGone: true }],
    ['SUPERVISOR_GAVE_UP', { agentId: 'one' }, { end: 'lost', isGone: true }],
    ['AGENT_NOT_FOUND', { recipient: 'other', sender: 'one' }, { end: 'failed', isGone: false }],
    ['SUPERVISOR_GAVE_UP', { agentId: 'other' }, { end: 'failed', isGone: false }],
    ['MAILBOX_FULL', { recipient: 'other', sender: 'one' }, { end: 'failed', isGone: false }],
  ] as const)('%s of %j ends that of one as %j', (code, details, end) => {
    expect(decideEnd({ code, details }, { agentId: 'one' })).toEqual(end);
  });

  it('is not gone when it says itself that somebody was not found', () => {
    const said = decideEnd({ code: 'AGENT_NOT_FOUND' }, { agentId: 'one', isSaid: true });
    expect(said).toEqual({ end: 'failed', isGone: false });
  });

  it('counts what was lost between the same two a second time as failed', () => {
    const { subTasks } = recordOf(planOf('x')).session;
    const subTask = subTasks[0] as SwarmSubTask;
    const lost = (times: number) => Array.from({ length: times }, (_, at) => ended('one', at + 1, 'lost'));
    expect(hasFailed({ ...subTask, assignments: lost(1) }, 'one')).toBe(false);
    expect(hasFailed({ ...subTask, assignments: lost(2) }, 'one')).toBe(true);
    expect(hasFailed({ ...subTask, assignments: [ended('one', 1, 'left')] }, 'one')).toBe(false);
  });
});

describe('A report without an epoch (F-02)', () => {
  it('means the latest assignment of the agent', () => {
    const assignments = [ended('one', 1, 'left'), ended('two', 2, 'failed'), ended('one', 3, undefined)];
    expect(latestEpochOf({ assignments }, 'one')).toBe(3);
    expect(latestEpochOf({ assignments }, 'two')).toBe(2);
    expect(latestEpochOf({ assignments }, 'three')).toBeUndefined();
  });
});

describe('How a swarm ends (N-8.6)', () => {
  const { subTasks } = recordOf(planOf('x', 'x', 'x')).session;
  const as = (...statuses: SwarmSubTask['status'][]): SwarmSubTask[] =>
    subTasks.map((one, at) => ({ ...one, status: statuses[at] ?? 'pending', result: at }));

  it('is decided when nothing is left to be done, or at the first failure by choice', () => {
    expect(decideEnding(as('completed', 'completed', 'running'), 'finish')).toBeUndefined();
    expect(decideEnding(as('completed', 'completed', 'completed'), 'finish')).toBe('completed');
    expect(decideEnding(as('completed', 'failed', 'running'), 'finish')).toBeUndefined();
    expect(decideEnding(as('completed', 'failed', 'completed'), 'finish')).toBe('failed');
    expect(decideEnding(as('completed', 'failed', 'running'), 'stop')).toBe('failed');
  });

  it('puts together what was completed', () => {
    expect(aggregate(as('completed', 'failed', 'completed'))).toEqual({ a: 0, c: 2 });
  });

  it('names the first fault and counts the others', () => {
    const faulty = subTasks.map((one, at) => ({
      ...one,
      error: { code: 'POISON' as const, message: `m${at}` },
    }));
    expect(aggregateFaults(faulty)).toEqual({ code: 'POISON', message: 'm0; and 2 more' });
    expect(aggregateFaults(subTasks)).toBeUndefined();
  });
});
