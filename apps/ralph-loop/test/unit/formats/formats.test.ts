import { describe, expect, it } from 'vitest';
import { readChecklist, tasksOfChecklist } from '../../../mission/formats/checklist.ts';
import type { ForeignText } from '../../../mission/formats/foreign-mission.ts';
import { plainIds } from '../../../mission/formats/plain-ids.ts';
import { readPrdJson } from '../../../mission/formats/prd-json.ts';
import { readTasksJson } from '../../../mission/formats/tasks-json.ts';
import { FIX_PLAN, OPEN_SPEC, PRD_JSON, SPEC_KIT, TASKS_JSON } from './examples.ts';

const missionOf = (read: ForeignText) => {
  if ('faults' in read) throw new Error(read.faults.join('\n'));
  return read.mission;
};
const checklist = async (text: string) => missionOf(tasksOfChecklist(await readChecklist(text, 'x.md')));
const waits = (tasks: readonly { readonly key: string; readonly dependsOn: readonly string[] }[]) =>
  Object.fromEntries(tasks.map(({ key, dependsOn }) => [key, dependsOn]));

describe('prd.json', () => {
  it('is read with all that it says', () => {
    expect(missionOf(readPrdJson(JSON.parse(PRD_JSON)))).toEqual({
      name: 'Shop',
      description: 'A checkout that people finish',
      branch: 'ralph/checkout',
      tasks: [
        {
          key: 'US-001',
          title: 'The cart knows its total',
          description: 'As a buyer I see what I pay.',
          acceptance: ['An empty cart costs nothing', 'Typecheck passes'],
          priority: 1,
          dependsOn: [],
          state: 'done',
          place: 'userStories[0]',
        },
        {
          key: 'US-002',
          title: 'The page shows the total',
          description: 'Use the component of the design\n\nLabels: ui',
          acceptance: ['The total is below the items'],
          priority: 2,
          dependsOn: ['US-001'],
          state: 'open',
          place: 'userStories[1]',
        },
        {
          key: '3',
          title: 'Taxes',
          priority: 3,
          dependsOn: ['US-002'],
          state: 'open',
          place: 'userStories[2]',
        },
      ],
    });
  });

  it('may count priorities from 0', () => {
    const stories = [0, 1].map((priority) => ({ id: priority, title: 'A', priority }));
    const { tasks } = missionOf(readPrdJson({ userStories: stories }));
    expect(tasks.map(({ priority }) => priority)).toEqual([1, 2]);
  });

  it('is refused with all faults, ids that come twice included', () => {
    expect(readPrdJson({ userStories: [{ id: 'a' }, { id: true, title: 'B' }] })).toEqual({
      faults: [
        'userStories[0].title: expected string, but it is missing',
        'userStories[1].id: expected a text or a number, found true',
      ],
    });
    expect(
      readPrdJson({
        userStories: [
          { id: 1, title: 'A' },
          { id: '1', title: 'B' },
        ],
      }),
    ).toEqual({
      faults: ['userStories[1]: "1" is already the id of userStories[0]'],
    });
  });
});

describe('tasks.json', () => {
  const value: unknown = JSON.parse(TASKS_JSON);

  it('has tasks after their subtasks, which may mean each other by number', () => {
    const { name, tasks } = missionOf(readTasksJson(value, 'master'));
    expect(name).toBe('master');
    expect(waits(tasks)).toEqual({
      '1': [],
      '2.1': ['1'],
      '2.2': ['1', '2.1'],
      '2.3': ['1', '2.2', '2.1'],
      '2': ['1', '2.1', '2.2', '2.3'],
      '4': ['2'],
      '5': ['4'],
    });
    expect(tasks.map(({ state }) => state).join(' ')).toBe('done done open open open put-off open');
    expect(tasks.find(({ key }) => key === '2')).toMatchObject({
      description: 'HTTP routes\n\nOne file a route.',
      acceptance: ['Each route answers.'],
      priority: 2,
      place: 'master.tasks[1]',
    });
  });

  it('needs to be told which of several tags is meant', () => {
    expect(readTasksJson(value)).toEqual({
      faults: ['several tags; it has master, docs: --tag NAME says which is meant'],
    });
    expect(readTasksJson(value, 'mastr')).toEqual({
      faults: ['the tag "mastr" is not there; it has master, docs'],
    });
    expect(missionOf(readTasksJson(value, 'docs')).tasks).toHaveLength(1);
  });

  it('may have one tag, or none', () => {
    const tasks = [{ id: 1, title: 'A' }];
    expect(missionOf(readTasksJson({ tasks })).tasks[0]?.place).toBe('tasks[0]');
    expect(missionOf(readTasksJson({ only: { tasks } })).name).toBe('only');
    expect(readTasksJson({ only: { tasks: [{ id: 1 }] } })).toEqual({
      faults: ['only.tasks[0].title: expected string, but it is missing'],
    });
  });
});

describe('a checklist', () => {
  it('has an item for each box, and no example in code', async () => {
    const { name, tasks } = await checklist(FIX_PLAN);
    expect(name).toBe('Fix plan');
    expect(tasks.map(({ title, state, place }) => [title, state, place])).toEqual([
      ['Parse dates', 'done', 'line 4'],
      ['Zones with names', 'open', 'line 8'],
      ['Parse times with zones', 'open', 'line 5'],
      ['Parse times of day', 'open', 'line 9'],
    ]);
    const [, zones, times] = tasks;
    expect(times?.dependsOn).toEqual([zones?.key]);
    expect(times?.description).toBe('Under: High Priority\n\n- keep the old format');
  });

  it('gives items ids that stay when others come and go', async () => {
    const { tasks } = await checklist('- [ ] Add it\n- [ ] Über alles!\n- [ ] Add it\n- [ ] 日本\n');
    const keys = tasks.map(({ key }) => key);
    expect(keys[0]).toMatch(/^add-it-[0-9a-f]{6}$/);
    expect(keys[2]).toBe(`${keys[0]}-2`);
    expect(keys[3]).toMatch(/^item-[0-9a-f]{6}$/);
    const later = await checklist('# T\n- [x] New\n1. [ ] Über alles!\n');
    expect(later.tasks[1]?.key).toBe(keys[1]);
  });

  it('of spec-kit runs what is marked [P] side by side, and the rest in order', async () => {
    const { name, tasks } = await checklist(SPEC_KIT);
    expect(name).toBe('Tasks: Sign in');
    expect(waits(tasks)).toEqual({
      T001: [],
      T002: ['T001'],
      T003: ['T002'],
      T004: ['T002'],
      T005: ['T003', 'T004'],
      T006: ['T005'],
    });
    expect(tasks[2]?.title).toBe('[US1] Model in src/user.ts');
  });

  it('of OpenSpec runs in order', async () => {
    const { tasks } = await checklist(OPEN_SPEC);
    expect(waits(tasks)).toEqual({ '1.1': [], '1.2': ['1.1'], '2.1': ['1.2'] });
    expect(tasks[2]).toMatchObject({ title: 'Write tests', description: 'Under: 2. Tests' });
  });

  it.each([
    ['- [ ] US-001: Sign in', 'US-001', 'Sign in'],
    ['- [ ] **AB-2**: Sign out', 'AB-2', 'Sign out'],
    ['- [ ] 3.10.2. Sign up', '3.10.2', 'Sign up'],
  ])('takes the id that "%s" begins with', async (text, key, title) => {
    expect((await checklist(text)).tasks[0]).toMatchObject({ key, title });
  });

  it('is refused without boxes, and with an id that comes twice', async () => {
    expect(tasksOfChecklist(await readChecklist('- a\n', 'x.md'))).toEqual({
      faults: ['expected items with a box, such as "- [ ] what is to be done"'],
    });
    expect(tasksOfChecklist(await readChecklist('- [ ] 1.1 A\n- [ ] 1.1 B\n', 'x.md'))).toEqual({
      faults: ['line 2: "1.1" is already the id of line 1'],
    });
  });
});

describe('the ids of foreign tasks', () => {
  it('stay where they can be ids, and are made plain where not, each another', () => {
    expect([...plainIds(['a b', 'a-b', 'a/b', 'é', '日本', '-'])]).toEqual([
      ['a-b', 'a-b'],
      ['a b', 'a-b-2'],
      ['a/b', 'a-b-3'],
      ['é', 'e'],
      ['日本', 'task'],
      ['-', 'task-2'],
    ]);
  });
});
