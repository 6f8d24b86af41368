import { chmod, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { findMissions, onlyMission } from '../../../mission/find-missions.ts';
import { MissionError } from '../../../mission/mission-error.ts';
import { readMissionSource } from '../../../mission/read-mission-source.ts';
import { syncMission } from '../../../mission/sync-mission.ts';
import { FIX_PLAN, PRD_JSON, SPEC_KIT, TASKS_JSON } from './examples.ts';

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'orrery-source-'));
});
afterEach(async () => {
  vi.unstubAllEnvs();
  await rm(folder, { recursive: true });
});

const put = async (name: string, text: string): Promise<string> => {
  const file = join(folder, name);
  await mkdir(dirname(file), { recursive: true });
  await writeFile(file, text);
  return file;
};
const gates = [{ name: 'test', run: 'npm test' }];
const read = (file: string, tag?: string) =>
  readMissionSource(file, { tag, defaults: { folder, defaults: { version: 1, code: { gates } } } });
const faultsOf = async (reading: Promise<unknown>): Promise<readonly string[]> => {
  const error = await reading.catch((thrown: unknown) => thrown);
  if (error instanceof MissionError) return error.faults;
  throw new Error('It was read', { cause: error });
};

describe('a mission of another tool', () => {
  it('is a mission of what is left to do', async () => {
    const file = await put('prd.json', PRD_JSON);
    const { mission, source } = await read(file);
    expect(mission).toEqual({
      version: 1,
      name: 'Shop',
      description: 'A checkout that people finish',
      code: { gates, branch: 'ralph/checkout' },
      limits: { maxAttempts: 3 },
      tasks: [
        {
          id: 'US-002',
          title: 'The page shows the total',
          description: 'Use the component of the design\n\nLabels: ui',
          acceptance: ['The total is below the items'],
          priority: 2,
          capability: 'code.change',
        },
        { id: '3', title: 'Taxes', priority: 3, dependsOn: ['US-002'], capability: 'code.change' },
      ],
    });
    expect(source).toEqual({
      format: 'prd',
      file,
      tasks: {
        'US-002': { key: 'US-002', place: 'userStories[1]' },
        '3': { key: '3', place: 'userStories[2]' },
      },
      leftOut: [{ key: 'US-001', place: 'userStories[0]', why: 'it is done' }],
    });
  });

  it('leaves out what is put off, and what waits for that', async () => {
    const file = await put('.taskmaster/tasks/tasks.json', TASKS_JSON);
    const { mission, source } = await read(file, 'master');
    expect(mission.tasks.map(({ id, dependsOn }) => [id, dependsOn])).toEqual([
      ['2.2', undefined],
      ['2.3', ['2.2']],
      ['2', ['2.2', '2.3']],
    ]);
    expect(source).toMatchObject({ format: 'taskmaster', tag: 'master' });
    expect(source.leftOut.map(({ key, why }) => [key, why])).toEqual([
      ['1', 'it is done'],
      ['2.1', 'it is done'],
      ['4', 'it is put off'],
      ['5', 'it waits for 4, which is left out'],
    ]);
  });

  it('is named after its folder where it has no name of its own', async () => {
    const { mission } = await read(await put('openspec/changes/add-cart/tasks.md', '- [ ] 1.1 A\n'));
    expect(mission.name).toBe('add-cart');
  });

  it('is refused without a gate, and says how to give one', async () => {
    expect(await faultsOf(readMissionSource(await put('fix_plan.md', FIX_PLAN)))).toEqual([
      expect.stringMatching(/^code\.gates: expected at least one gate.*orrery\.json.*"gates":\[/),
    ]);
  });

  it('is refused where nothing is left, and where it waits for what nobody knows', async () => {
    expect(await faultsOf(read(await put('a.md', '- [x] A\n')))).toEqual([
      'nothing is left to do: of 1 tasks each is done or put off',
    ]);
    const stories = { userStories: [{ id: 'a', title: 'A', dependsOn: ['b'] }] };
    expect(await faultsOf(read(await put('prd.json', JSON.stringify(stories))))).toEqual([
      'userStories[0]: it waits for "b", which no task has as its id',
    ]);
  });

  it('has a tag only in a tasks.json', async () => {
    for (const name of ['a.md', 'b.json'])
      expect(await faultsOf(read(await put(name, '{}'), 'x'))).toEqual([
        'the tag "x" is named, but only a tasks.json has tags',
      ]);
  });

  it('is known by its content: what has fields of a mission of ours is one', async () => {
    const faults = await faultsOf(
      read(await put('tasks.json', '{"name":"m","limits":{"maxAttempts":1},"tasks":[]}')),
    );
    expect(faults).toContain('version: expected 1, but it is missing');
  });
});

describe('the missions of a folder', () => {
  it('are found, ours first, and lists without boxes are none', async () => {
    expect(await findMissions(folder)).toEqual([]);
    expect(await faultsOf(onlyMission(folder))).toEqual([
      'no mission is there, and no list of tasks that is known',
    ]);
    await put('PRD.md', '# What we want\n- a plain item\n');
    await put('specs/001-cart/tasks.md', SPEC_KIT);
    expect(await onlyMission(folder)).toBe(join(folder, 'specs/001-cart/tasks.md'));
    for (const name of [
      'prd.json',
      'b.mission.yaml',
      'mission.json',
      'other.json',
      '.taskmaster/tasks/tasks.json',
    ])
      await put(name, '{}');
    await put('PRD.md', '- [ ] A\n');
    await put('openspec/changes/archive/tasks.md', '- [ ] A\n');
    await mkdir(join(folder, '.beads'));
    const found = [
      'b.mission.yaml',
      'mission.json',
      'prd.json',
      '.taskmaster/tasks/tasks.json',
      'PRD.md',
      'specs/001-cart/tasks.md',
      '.beads',
    ];
    expect(await findMissions(folder)).toEqual(found);
    expect(await faultsOf(onlyMission(folder))).toEqual([
      'several missions are there; name the one that is meant:',
      ...found,
    ]);
  });
});

describe('the issues of beads', () => {
  const ISSUES = [
    { id: 'bd-1', title: 'Whole', issue_type: 'epic', status: 'open', priority: 1 },
    {
      id: 'bd-2',
      title: 'Part',
      status: 'open',
      priority: 0,
      acceptance_criteria: 'It works',
      dependencies: [
        { issue_id: 'bd-2', depends_on_id: 'bd-1', type: 'parent-child' },
        { issue_id: 'bd-2', depends_on_id: 'bd-0', type: 'blocks' },
      ],
    },
    { id: 'bd-3', title: 'Next', status: 'in_progress', dependency_count: 1 },
  ];
  const SHOWN = [{ ...ISSUES[2], dependencies: [{ id: 'bd-2', title: 'Part', dependency_type: 'blocks' }] }];

  /** A program \`bd\` on the path, which keeps in a file what was closed. */
  const install = async (): Promise<void> => {
    const program = await put(
      'bin/bd',
      `#!${process.execPath}
const fs = require('node:fs');
const [word, id] = process.argv.slice(2);
if (word === 'close' && id === 'bd-3') { console.error('it is locked'); process.exit(4); }
if (word === 'close') fs.appendFileSync('closed', id + '\\n');
const closed = fs.existsSync('closed') ? fs.readFileSync('closed', 'utf8').split('\\n') : [];
const issues = ${JSON.stringify(ISSUES)}.filter((issue) => !closed.includes(issue.id));
if (word === 'list') console.log(JSON.stringify(issues));
if (word === 'show') console.log(${JSON.stringify(JSON.stringify(SHOWN))});
`,
    );
    await chmod(program, 0o755);
    vi.stubEnv('PATH', `${join(folder, 'bin')}${delimiter}${process.env['PATH']}`);
    await mkdir(join(folder, '.beads'), { recursive: true });
  };

  it('are tasks that wait for what blocks them, and wholes that wait for their parts', async () => {
    await install();
    const { mission, source } = await read(join(folder, '.beads'));
    expect(mission.tasks.map(({ id, dependsOn, priority }) => ({ id, dependsOn, priority }))).toEqual([
      { id: 'bd-1', dependsOn: ['bd-2'], priority: 2 },
      { id: 'bd-2', dependsOn: undefined, priority: 1 },
      { id: 'bd-3', dependsOn: ['bd-2'], priority: undefined },
    ]);
    expect(source.format).toBe('beads');
  });

  it('are closed once they are accepted, once', async () => {
    await install();
    const { source } = await read(join(folder, '.beads'));
    const results = { 'bd-2': 'accepted', 'bd-1': 'task-failed' };
    expect(await syncMission(source, results)).toEqual({ written: ['bd-2'], already: [] });
    expect(await syncMission(source, results)).toEqual({ written: [], already: ['bd-2'] });
    expect(await faultsOf(syncMission(source, { 'bd-3': 'accepted' }))).toEqual([
      'bd close bd-3 ended with 4: it is locked',
    ]);
  });

  it('need the program bd', async () => {
    await mkdir(join(folder, '.beads'));
    vi.stubEnv('PATH', folder);
    expect(await faultsOf(read(join(folder, '.beads')))).toEqual([
      'the program bd, which keeps the issues of beads, is not installed',
    ]);
  });
});
