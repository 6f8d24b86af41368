import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { stringify } from 'yaml';
import { jsonPlaces, repeatedKey } from '../../mission/json-places.ts';
import { readDefaults } from '../../mission/mission-defaults.ts';
import { MissionError } from '../../mission/mission-error.ts';
import { parseData } from '../../mission/read-data.ts';
import { readMission } from '../../mission/read-mission.ts';

const MISSION = {
  version: 1,
  name: 'shop',
  code: { gates: [{ name: 'test', run: 'npm test' }] },
  limits: { maxAttempts: 2 },
  tasks: [{ id: 'total', title: 'Total', capability: 'code.change' }],
};

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'orrery-text-'));
});
afterAll(() => rm(folder, { recursive: true }));

const written = async (name: string, text: string): Promise<string> => {
  const file = join(folder, name);
  await writeFile(file, text);
  return file;
};

const faultsOf = async (read: Promise<unknown>): Promise<readonly string[]> => {
  const error = await read.then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  if (error instanceof MissionError) return error.faults;
  throw new Error('It was read', { cause: error });
};

describe('a mission in YAML', () => {
  it('is read as the same in JSON is', async () => {
    for (const name of ['m.yaml', 'm.yml', 'm.YAML'])
      expect(await readMission(await written(name, `# shop\n${stringify(MISSION)}`))).toEqual(MISSION);
  });

  it.each([
    [
      'a key that comes twice',
      'version: 1\nversion: 1\n',
      'line 2, column 1: not YAML: Map keys must be unique',
    ],
    ['an anchor', 'a: &x 1\nb: *x\n', 'line 1, column 7: not YAML: expected no anchor (&x)'],
    ['an alias', 'a:\n  b: *x\n', 'line 2, column 6: not YAML: '],
    ['a tag', 'a: 1\nb: !!str 2\n', 'line 2, column 10: not YAML: expected no tag (tag:yaml.org,2002:str)'],
    ['a tag nobody knows', 'b: !x 2\n', 'line 1, column 4: not YAML: '],
    ['a bracket that is open', 'tasks: [1,\nb: 2\n', 'line '],
  ])('is refused for %s, with line and column', async (_, text, fault) => {
    expect((await faultsOf(parseData(text, 'm.yaml')))[0]).toContain(fault);
  });

  it('is refused where it is nested too deeply or is too long', async () => {
    expect(await faultsOf(parseData('['.repeat(20_000), 'm.yaml'))).toHaveLength(1);
    expect(await faultsOf(parseData(' '.repeat(1_048_577), 'm.yaml'))).toEqual([
      'line 1, column 1: not YAML: 1048577 characters, expected 1048576 at most; JSON may be longer',
    ]);
  });
});

describe('a mission in JSON', () => {
  it('is refused for a field that comes twice', async () => {
    const text = '{\n  "version": 1,\n  "limits": {"a": "}", "b": [], "a": 2},\n  "version": 1\n}';
    expect(await faultsOf(parseData(text, 'm.json'))).toEqual([
      'line 3, column 33: the field "a" is there twice',
    ]);
  });

  it('has each of its values where they are said to stand', () => {
    const valuesOf = (text: string, place: ReturnType<typeof jsonPlaces>): unknown => {
      if (place?.fields !== undefined)
        return Object.fromEntries([...place.fields].map(([key, value]) => [key, valuesOf(text, value)]));
      if (place?.items !== undefined) return place.items.map((item) => valuesOf(text, item));
      return JSON.parse(text.slice(place?.start, place?.end)) as unknown;
    };
    fc.assert(
      fc.property(fc.jsonValue(), fc.constantFrom(0, 2, '\t'), (value, indent) => {
        const text = JSON.stringify(value, null, indent);
        expect(JSON.stringify(valuesOf(text, jsonPlaces(text)))).toBe(JSON.stringify(JSON.parse(text)));
        expect(repeatedKey(text)).toBeUndefined();
      }),
    );
  });
});

describe('the defaults of a repository', () => {
  const defaults = {
    version: 1,
    agents: ['agents/coder.agent.ts'],
    code: { gates: [{ name: 'lint', run: 'npm run lint' }], setup: 'npm ci' },
    limits: { maxAttempts: 3, timeoutMs: 1000 },
  };

  it('are what missions get where they say nothing, field by field', async () => {
    await written('orrery.yaml', stringify(defaults));
    const file = await written('m.json', JSON.stringify({ ...MISSION, limits: { maxAttempts: 1 } }));
    expect(await readMission(file, { defaults: await readDefaults(folder) })).toEqual({
      ...MISSION,
      agents: [join(folder, 'agents/coder.agent.ts')],
      code: { ...MISSION.code, setup: 'npm ci' },
      limits: { maxAttempts: 1, timeoutMs: 1000 },
    });
    const bare = await written('n.json', JSON.stringify({ ...MISSION, code: undefined, limits: undefined }));
    expect(await readMission(bare, { defaults: await readDefaults(folder) })).toMatchObject({
      code: defaults.code,
      limits: defaults.limits,
    });
  });

  it('have no branch for a mission that only looks', async () => {
    const tasks = [{ id: 'a', title: 'A', capability: 'x.y' }];
    const file = await written('o.json', JSON.stringify({ ...MISSION, code: undefined, tasks }));
    expect(await readMission(file, { defaults: await readDefaults(folder) })).not.toHaveProperty('code');
  });

  it('are refused with all faults, and when there are two files of them', async () => {
    const second = await written('orrery.json', '{"version":2,"gates":[]}');
    expect(await faultsOf(readDefaults(folder))).toEqual(['orrery.yaml is there too, expected one of them']);
    await rm(join(folder, 'orrery.yaml'));
    expect(await faultsOf(readDefaults(folder))).toEqual([
      'version: expected 1, found 2',
      'gates: unknown field with value []',
    ]);
    await rm(second);
    expect(await readDefaults(folder)).toBeUndefined();
  });
});
