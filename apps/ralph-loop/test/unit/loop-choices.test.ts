import { OrreryError, type TaskProposal } from 'orrery';
import { describe, expect, it } from 'vitest';
import { assignTasks } from '../../agents/assign.ts';
import { missionAssign } from '../../agents/capabilities.ts';
import type { LoopEvent } from '../../loop/loop-event.ts';
import type { JournalledTask } from '../../loop/task-context.ts';
import { FakeTeam } from './fake-team.ts';
import { missionOf, start } from './loop-of-fakes.ts';

const lone = missionOf([{ id: 'a', capability: 'work' }]);
const sun = {
  'mission.assign': (input: Record<string, unknown>) => {
    const { tasks, roster } = missionAssign.input.parse(input);
    return assignTasks(tasks, roster);
  },
};

/** A team of which SUN chooses, with agents that can all do the same. */
const teamOf = (...ids: readonly string[]) =>
  ids.reduce((team, id) => team.agent(id, { work: () => ({}) }), new FakeTeam().agent('sun', sun));

const busy = () => ({ status: 'rejected', rejectionReason: 'BUSY' }) as const;

async function choicesOf(team: FakeTeam) {
  const { events, outcome } = start(team, lone);
  const { tasks } = await outcome;
  const told = events.filter(
    (event): event is Extract<LoopEvent, { type: 'task.changed' }> =>
      event.type === 'task.changed' && event.choice !== undefined,
  );
  return { choices: tasks[0]?.context.choices, told };
}

describe('the choice of an agent (N-8.5)', () => {
  it('is kept and told with who was compared, and once it is taken on with the answer', async () => {
    const { choices, told } = await choicesOf(teamOf('mars', 'venus'));
    const chosen = {
      attempt: 1,
      agent: 'mars',
      bids: [
        { agent: 'mars', load: 0 },
        { agent: 'venus', load: 0 },
      ],
      reason: '2 have as little to do, and it is the first by name',
    };
    const taken = { ...chosen, answers: [{ agent: 'mars', said: 'accepted' }] };
    expect(choices).toEqual([taken]);
    expect(told.map(({ status, why, choice }) => ({ status, why, choice }))).toEqual([
      {
        status: 'proposed',
        why: 'sun gave it to mars: 2 have as little to do, and it is the first by name',
        choice: { ...chosen, answers: [] },
      },
      { status: 'working', why: 'mars took it on', choice: taken },
    ]);
  });

  it('is none where only one agent could do the task', async () => {
    expect((await choicesOf(teamOf('mars'))).told).toEqual([]);
  });

  it('says who has declined before, with the reason', async () => {
    const team = teamOf('mars', 'venus');
    team.refusals.set('mars', busy);
    const { choices, told } = await choicesOf(team);
    expect(choices).toMatchObject([
      { agent: 'mars', answers: [{ agent: 'mars', said: 'declined', reason: 'BUSY' }] },
      {
        agent: 'venus',
        bids: [{ agent: 'venus' }, { agent: 'mars', out: 'declined: BUSY' }],
        reason: 'nobody else is left who offers work',
        answers: [{ agent: 'venus', said: 'accepted' }],
      },
    ]);
    expect(told.at(-1)?.choice).toEqual(choices?.at(-1));
  });

  it('is for one that has nothing in hand, while another works at a task of the mission', async () => {
    const third = Promise.withResolvers<void>();
    const team = new FakeTeam()
      .agent('sun', sun)
      .agent('mars', { work: () => third.promise.then(() => ({})) })
      .agent('venus', {
        work: () => {
          if (team.work.filter(({ agent }) => agent === 'venus').length === 2) third.resolve();
          return {};
        },
      });
    const three = missionOf(['a', 'b', 'c'].map((id) => ({ id, capability: 'work' })));
    const { tasks } = await start(team, three, undefined, undefined, 2).outcome;
    expect(tasks.map(({ context }) => context.assignee?.agent)).toEqual(['mars', 'venus', 'venus']);
    expect(tasks[2]?.context.choices.at(-1)).toMatchObject({
      reason: 'it has the least to do',
      bids: [
        { agent: 'venus', load: 0 },
        { agent: 'mars', load: 1 },
      ],
    });
  });

  it('says of one that is limited that it takes no more work for now', async () => {
    const team = teamOf('mars', 'venus').agent('mars', {
      work: () => {
        throw new OrreryError('RATE_LIMITED', 'enough', { details: { retryAfterMs: 3_600_000 } });
      },
    });
    const { choices } = await choicesOf(team);
    expect(choices?.at(-1)).toMatchObject({
      ...{ agent: 'venus', attempt: 1 },
      bids: [{ agent: 'venus' }, { agent: 'mars', out: 'takes no more work for now' }],
    });
  });

  it('knows the answers of those whom others have named, and asks none of them again', async () => {
    const team = teamOf('mars', 'venus', 'moon');
    const at = { effect: 'counted', atMs: 0 } as const;
    team.refusals.set('mars', busy);
    team.records.set('p1', {
      proposal: {} as TaskProposal,
      asked: ['mars', 'moon'],
      answers: [
        { ...at, agentId: 'mars', type: 'task-reject', reason: 'BUSY', alternative: 'moon' },
        { ...at, agentId: 'moon', type: 'task-reject', reason: 'TIRED' },
      ],
      isOver: true,
    });
    const { choices } = await choicesOf(team);
    expect(choices?.[0]?.answers).toEqual([
      { agent: 'mars', said: 'declined', reason: 'BUSY', named: 'moon' },
      { agent: 'moon', said: 'declined', reason: 'TIRED' },
    ]);
    expect(team.proposed).toEqual(['mars test/a', 'venus test/a']);
  });

  it('says who let the time pass, and who took it on that was not chosen', async () => {
    const team = teamOf('mars', 'venus', 'moon');
    team.refusals.set('mars', () => ({ status: 'timed-out' }));
    team.refusals.set('moon', () => ({ status: 'accepted', acceptedBy: 'venus' }));
    const { choices } = await choicesOf(team);
    expect(choices?.map(({ agent, answers }) => [agent, answers])).toEqual([
      ['mars', [{ agent: 'mars', said: 'timed-out' }]],
      [
        'moon',
        [
          { agent: 'moon', said: 'declined' },
          { agent: 'venus', said: 'accepted' },
        ],
      ],
    ]);
  });

  it('is as far as it is known where the assigner says nothing of it', async () => {
    const team = new FakeTeam().agent('mars', { work: () => ({}) }).agent('venus', { work: () => ({}) });
    team.refusals.set('mars', busy);
    const { choices } = await choicesOf(team);
    expect(choices?.[1]).toEqual({
      attempt: 1,
      agent: 'venus',
      bids: [{ agent: 'mars', load: 0, out: 'declined: BUSY' }],
      answers: [{ agent: 'venus', said: 'accepted' }],
    });
  });

  it('believes an assigner nothing of agents that are not there, nor words without an end', async () => {
    const bid = (agent: string) => ({ agent, load: 1, out: 'x'.repeat(5_000) });
    const names = Array.from({ length: 40 }, (_, at) => `a${at}`);
    const team = teamOf('mars', ...names).agent('sun', {
      'mission.assign': () => ({
        assignments: [
          {
            ...{ taskId: 'a', agent: 'mars', reason: `because\n${'x'.repeat(5_000)}` },
            bids: ['ghost', 'sun', ...names, 'a1'].map(bid),
          },
        ],
        unassignable: [],
      }),
    });
    const { choices } = await choicesOf(team);
    expect(choices?.[0]).toMatchObject({ reason: 'because' });
    const bids = choices?.[0]?.bids ?? [];
    expect(bids).toHaveLength(16);
    expect(new Set(bids.map(({ agent }) => agent)).size).toBe(16);
    expect(bids.map(({ agent }) => agent)).not.toContain('ghost');
    expect(bids.map(({ agent }) => agent)).not.toContain('sun');
    expect(bids[0]?.out).toHaveLength(200);
  });

  it('is kept of the latest attempts only', async () => {
    const team = teamOf('mars', 'venus');
    const fails = () => {
      throw new OrreryError('ACTOR_DIED', 'planted');
    };
    for (const id of ['mars', 'venus']) team.agent(id, { work: fails });
    const many = missionOf([{ id: 'a', capability: 'work' }], { maxAttempts: 12 });
    const { tasks } = await start(team, many).outcome;
    expect(tasks[0]?.context.attempts).toHaveLength(12);
    expect(tasks[0]?.context.choices.map(({ attempt }) => attempt)).toEqual([5, 6, 7, 8, 9, 10, 11, 12]);
  });

  it('is remembered with an accepted task, also from a journal that knows nothing of choices', async () => {
    const journal = new Map<string, JournalledTask>();
    const progress = {
      ...{ runId: 'r', accepted: new Map<string, JournalledTask>() },
      accept: async (id: string, { item: _item, ...kept }: JournalledTask & { item?: unknown }) => {
        journal.set(id, structuredClone(kept));
      },
    };
    await start(teamOf('mars', 'venus'), lone, undefined, progress).outcome;
    const resumed = async (accepted: ReadonlyMap<string, JournalledTask>) =>
      (await start(teamOf('mars', 'venus'), lone, undefined, { ...progress, accepted }).outcome).tasks[0]
        ?.context.choices;
    expect(await resumed(journal)).toMatchObject([{ agent: 'mars' }]);
    const { choices: _none, ...old } = journal.get('a') as JournalledTask;
    expect(await resumed(new Map([['a', old]]))).toEqual([]);
  });
});
