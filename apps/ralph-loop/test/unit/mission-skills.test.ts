import { OrreryError } from 'orrery';
import { describe, expect, it } from 'vitest';
import { FakeClock } from '../../../../test/fixtures/fake-clock.ts';
import { runMission } from '../../loop/run-mission.ts';
import { lessonsOf, taskSubject, taskTag } from '../../skills/lessons.ts';
import { MissionSkills } from '../../skills/mission-skills.ts';
import { FakeTeam, finding } from './fake-team.ts';
import { missionOf } from './loop-of-fakes.ts';

async function concluded(team: FakeTeam, tasks: readonly Record<string, unknown>[]) {
  const mission = missionOf(tasks);
  const skills = new MissionSkills({
    team,
    mission: mission.name,
    root: '/nowhere',
    project: 'shop',
    now: () => 0,
  });
  const outcome = await runMission(mission, { root: '/nowhere' }, { team, clock: new FakeClock(), skills });
  return { outcome, skills: await skills.conclude() };
}

describe('the memory of a mission', () => {
  it('is not asked again once it did not answer: a run does not wait for each thing to be remembered', async () => {
    const team = new FakeTeam().agent('mars', { look: () => ({ findings: [finding()] }) }).agent('memory', {
      memory_list: () => {
        throw new OrreryError('DEADLINE_EXCEEDED', 'no answer');
      },
    });
    const { skills } = await concluded(team, [
      { id: 'one', capability: 'look' },
      { id: 'two', capability: 'look' },
    ]);
    expect(team.asked.filter(({ agent }) => agent === 'memory')).toHaveLength(1);
    expect(skills.failures).toEqual([
      'What "one" taught is not all remembered: DEADLINE_EXCEEDED: no answer',
      'What "two" taught is not all remembered: DEADLINE_EXCEEDED: no answer',
    ]);
  });

  it('is not waited for again by tasks that recall, once it did not answer one', async () => {
    const team = new FakeTeam().agent('mars', { look: () => ({}) }).agent('memory', {
      memory_list: () => {
        throw new OrreryError('DEADLINE_EXCEEDED', 'no answer');
      },
      memory_search: () => ({ success: true, results: [] }),
    });
    const { outcome, skills } = await concluded(team, [
      { id: 'one', capability: 'look', recall: true },
      { id: 'two', capability: 'look', recall: true, dependsOn: ['one'] },
    ]);
    expect(outcome.stopReason).toBe('all-accepted');
    expect(team.asked.filter(({ capability }) => capability === 'memory_list')).toHaveLength(1);
    expect(skills.failures).toHaveLength(4);
  });

  it('keeps what it can where one thing is refused, and says how much was not kept', async () => {
    const kept: string[] = [];
    const team = new FakeTeam()
      .agent('mars', { look: () => ({ findings: [finding(), finding({ message: 'worse' })] }) })
      .agent('memory', {
        memory_list: () => ({ success: true, memories: [] }),
        memory_add: ({ content }) => {
          if (String(content).includes('worse')) throw new OrreryError('REFUSED', 'not that');
          kept.push(String(content));
          return { success: true, memory_id: String(kept.length), duplicate: false };
        },
      });
    const { skills } = await concluded(team, [{ id: 'one', capability: 'look' }]);
    expect(kept).toHaveLength(2);
    expect(skills).toMatchObject({
      learned: { added: 2 },
      failures: ['1 of 3 memories of "one" were not kept: REFUSED: not that'],
    });
  });
});

describe('what a task teaches', () => {
  const viewOf = async (findings: readonly ReturnType<typeof finding>[]) => {
    const team = new FakeTeam().agent('mars', { look: () => ({ findings }) });
    const { outcome } = await concluded(team.agent('memory', {}), [{ id: 'one', capability: 'look' }]);
    return outcome.tasks[0] as NonNullable<(typeof outcome.tasks)[number]>;
  };

  it('is the 200 worst of its findings, and how many more there are', async () => {
    const many = Array.from({ length: 203 }, (_, at) => finding({ message: `m${at}`, severity: 'low' }));
    const lessons = lessonsOf(
      await viewOf([...many, finding({ message: 'bad', severity: 'critical' })]),
      'test',
    );
    expect(lessons?.findings).toHaveLength(200);
    expect(lessons?.findings[0]).toMatchObject({ content: 'a.ts: bad (planted, critical)', importance: 1 });
    expect(lessons?.omitted).toBe(4);
  });

  it('is one thing for what is said of several lines of a file', async () => {
    const lessons = lessonsOf(await viewOf([finding({ line: 9 }), finding({ line: 3 })]), 'test');
    expect(lessons?.findings).toMatchObject([{ metadata: { lines: [3, 9] } }]);
  });

  it('can be kept by every store, whatever names and texts are', async () => {
    const message = `\0${'\ud800'.repeat(5_000)}`;
    const lessons = lessonsOf(await viewOf([finding({ message })]), 'test');
    const [{ content = '' } = {}] = lessons?.findings ?? [];
    expect([content.isWellFormed(), content.includes('\0'), content.length]).toEqual([true, false, 4_000]);
    for (const name of ['\0', '\ud800', 'x'.repeat(500)]) {
      expect(taskTag(name, 'one')).toMatch(/^sha256:/);
      expect(taskSubject(name, 'one')).toMatch(/^sha256:/);
    }
    expect(taskTag('test', 'one')).toBe('test/one');
  });

  it('is nothing where a task was cut off', async () => {
    const view = await viewOf([]);
    expect(lessonsOf({ ...view, status: 'cancelled' }, 'test')).toBeUndefined();
    expect(lessonsOf({ ...view, status: 'blocked' }, 'test')).toBeUndefined();
  });
});
