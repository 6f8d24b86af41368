import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { MissionError } from '../../mission/mission-error.ts';
import { parseMission, readMission } from '../../mission/read-mission.ts';

const task = (over: Record<string, unknown> = {}) => ({
  id: 'types',
  title: 'Types',
  capability: 'types.check',
  ...over,
});

const mission = (over: Record<string, unknown> = {}) => ({
  version: 1,
  name: 'audit',
  limits: { maxAttempts: 2 },
  tasks: [task()],
  ...over,
});

const faultsOf = (value: unknown): readonly string[] => {
  try {
    parseMission(typeof value === 'string' ? value : JSON.stringify(value), 'm.json');
    return [];
  } catch (error) {
    if (error instanceof MissionError) return error.faults;
    throw error;
  }
};

describe('a mission', () => {
  it('is read with everything it may say', () => {
    const full = mission({
      description: 'd',
      limits: { maxAttempts: 3, timeoutMs: 60_000, maxParallel: 2 },
      tasks: [
        task({ description: 'd', input: { strict: true }, priority: 1, acceptance: ['compiles'] }),
        { id: 'all', title: 'All', requiredCapabilities: ['a', 'b'], dependsOn: ['types'] },
      ],
    });
    expect(parseMission(JSON.stringify(full), 'm.json')).toEqual(full);
  });

  it('may begin with a byte order mark', () => {
    expect(faultsOf(`\uFEFF${JSON.stringify(mission())}`)).toEqual([]);
  });
});

describe('a long cycle of tasks', () => {
  it('is told by its beginning and its end', () => {
    const tasks = Array.from({ length: 20_000 }, (_, index) =>
      task({ id: `t${index}`, dependsOn: [`t${(index + 1) % 20_000}`] }),
    );
    expect(faultsOf(mission({ tasks }))).toEqual([
      'tasks: a cycle of 20000 dependencies: t0 -> t1 -> t2 -> t3 -> t4 -> t5 -> t6 -> t7 -> … -> t19999 -> t0',
    ]);
  });
});

describe('a mission is refused', () => {
  const cases: readonly [string, unknown, readonly string[]][] = [
    ['without a version', mission({ version: undefined }), ['version: expected 1, but it is missing']],
    ['of another version', mission({ version: 2 }), ['version: expected 1, found 2']],
    ['that is no object', [1], ['the file: expected object, found [1]']],
    [
      'with an unknown field',
      mission({ tasks: [task({ priorty: 3 })] }),
      ['tasks[0].priorty: unknown field with value 3; did you mean "priority"?'],
    ],
    ['with an unknown field on top', mission({ zzzz: {} }), ['zzzz: unknown field with value {}']],
    [
      'without a limit',
      mission({ limits: { maxParallel: 2 } }),
      [
        'limits: no limit; expected maxAttempts, timeoutMs or both, so that the mission ends, found {"maxParallel":2}',
      ],
    ],
    ['without limits', mission({ limits: undefined }), ['limits: expected object, but it is missing']],
    [
      'with a limit that is none',
      mission({ limits: { maxAttempts: 0 } }),
      ['limits.maxAttempts: Too small: expected number to be >=1, found 0'],
    ],
    [
      'without tasks',
      mission({ tasks: [] }),
      ['tasks: Too small: expected array to have >=1 items, found []'],
    ],
    [
      'whose task names no capability',
      mission({ tasks: [{ id: 'a', title: 'A' }] }),
      ['tasks[0]: expected exactly one of capability and requiredCapabilities, found {"id":"a","title":"A"}'],
    ],
    [
      'whose task names capabilities both ways',
      mission({ tasks: [{ id: 'a', title: 'A', capability: 'x', requiredCapabilities: ['y'] }] }),
      [
        'tasks[0]: expected exactly one of capability and requiredCapabilities, ' +
          'found {"id":"a","title":"A","capability":"x","requiredCapabilities":["y"]}',
      ],
    ],
    [
      'whose task needs a capability twice',
      mission({ tasks: [{ id: 'a', title: 'A', requiredCapabilities: ['x', 'x'] }] }),
      ['tasks[0].requiredCapabilities: expected each capability once, found ["x","x"]'],
    ],
    [
      'with an id used twice',
      mission({ tasks: [task(), task()] }),
      ['tasks[1].id: "types" is already the id of tasks[0]'],
    ],
    [
      'with an id that could not be a file name',
      mission({ tasks: [task({ id: 'a/b' })] }),
      [
        'tasks[0].id: expected letters, digits, ".", "_" and "-", starting with a letter or digit, found "a/b"',
      ],
    ],
    [
      'with a dependency that nobody defines',
      mission({ tasks: [task({ dependsOn: ['typs'] })] }),
      ['tasks[0].dependsOn[0]: no task has the id "typs"; did you mean "types"?'],
    ],
    [
      'with a task to come after that nobody defines',
      mission({ tasks: [task({ after: ['typs'] })] }),
      ['tasks[0].after[0]: no task has the id "typs"; did you mean "types"?'],
    ],
    [
      'with a cycle of both kinds of waiting',
      mission({ tasks: [task({ id: 'a', dependsOn: ['b'] }), task({ id: 'b', after: ['a'] })] }),
      ['tasks: a cycle of dependencies: a -> b -> a'],
    ],
    [
      'with a cycle',
      mission({
        tasks: [
          task({ id: 'free' }),
          task({ id: 'a', dependsOn: ['free', 'b'] }),
          task({ id: 'b', dependsOn: ['c'] }),
          task({ id: 'c', dependsOn: ['a'] }),
          task({ id: 'after', dependsOn: ['c'] }),
        ],
      }),
      ['tasks: a cycle of dependencies: a -> b -> c -> a'],
    ],
    [
      'with a task that waits for itself',
      mission({ tasks: [task({ dependsOn: ['types'] })] }),
      ['tasks: a cycle of dependencies: types -> types'],
    ],
  ];

  it.each(cases)('%s', (_, value, faults) => {
    expect(faultsOf(value)).toEqual(faults);
  });

  const broken: readonly [string, string, string][] = [
    ['empty', '', 'line 1, column 1: not JSON: Unexpected end of JSON input'],
    ['cut off', '{\n  "version": 1', "line 2, column 15: not JSON: Expected ',' or '}' after property value"],
    [
      'with a stray word',
      '{\n  "version": 1,\n  "name": nope\n}',
      "line 3, column 12: not JSON: Unexpected token 'o'",
    ],
    ['with a comment', '// mission\n{}', "line 1, column 1: not JSON: Unexpected token '/'"],
    [
      'with a trailing comma',
      '{\n"a": 1,\n}',
      'line 3, column 1: not JSON: Expected double-quoted property name',
    ],
    [
      'with a word at the end',
      '[\n1,\ntrue\n]\nx',
      'line 5, column 1: not JSON: Unexpected non-whitespace character after JSON',
    ],
  ];

  it.each(broken)('when its JSON is %s, with the line', (_, text, fault) => {
    expect(faultsOf(text)).toEqual([fault]);
  });

  it('with everything that is wrong at once', () => {
    expect(faultsOf(mission({ name: '', limits: {}, extra: 1 }))).toHaveLength(3);
  });
});

describe('a mission file', () => {
  let folder: string;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'orrery-mission-'));
  });
  afterAll(() => rm(folder, { recursive: true }));

  it('is read', async () => {
    const file = join(folder, 'm.json');
    await writeFile(file, JSON.stringify(mission()));
    expect((await readMission(file)).name).toBe('audit');
  });

  it('must exist', async () => {
    await expect(readMission(join(folder, 'absent.json'))).rejects.toThrow(
      /absent\.json cannot be run:\n {2}no such file/,
    );
  });

  it('must be a file', async () => {
    await expect(readMission(folder)).rejects.toThrow('is not a file');
  });
});
