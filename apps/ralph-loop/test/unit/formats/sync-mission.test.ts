import { chmod, mkdtemp, readdir, readFile, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { MissionError } from '../../../mission/mission-error.ts';
import { readMissionSource } from '../../../mission/read-mission-source.ts';
import { syncMission } from '../../../mission/sync-mission.ts';
import { FIX_PLAN, PRD_JSON, TASKS_JSON } from './examples.ts';

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'orrery-sync-'));
});
afterEach(() => rm(folder, { recursive: true }));

const code = { gates: [{ name: 'test', run: 'npm test' }] };
const read = async (name: string, text: string, tag?: string) => {
  const file = join(folder, name);
  await writeFile(file, text);
  const { source } = await readMissionSource(file, {
    tag,
    defaults: { folder, defaults: { version: 1, code } },
  });
  return { file, source, now: () => readFile(file, 'utf8') };
};

describe('what is written back', () => {
  it('is "passes" of accepted stories in prd.json, and nothing else', async () => {
    const { source, now } = await read('prd.json', PRD_JSON);
    expect(await syncMission(source, { 'US-002': 'accepted', '3': 'task-failed' })).toEqual({
      written: ['US-002'],
      already: [],
    });
    expect(await now()).toBe(PRD_JSON.replace('"passes": false', '"passes": true'));
    expect(await syncMission(source, { 'US-002': 'accepted', '3': 'accepted' })).toEqual({
      written: ['3'],
      already: ['US-002'],
    });
    expect(await now()).toContain('"dependsOn": ["US-002"], "passes": true }');
  });

  it('is the status in tasks.json, of subtasks too', async () => {
    const { source, now } = await read('tasks.json', TASKS_JSON, 'master');
    await syncMission(source, { '2.2': 'accepted', '2': 'blocked' });
    expect(await now()).toBe(
      TASKS_JSON.replace('"title": "Create", "status": "pending"', '"title": "Create", "status": "done"'),
    );
  });

  it('is the box in a checklist', async () => {
    const { source, now } = await read('fix_plan.md', FIX_PLAN);
    const id = Object.entries(source.tasks).find(([, { place }]) => place === 'line 5')?.[0] ?? '';
    await syncMission(source, { [id]: 'accepted' });
    expect(await now()).toBe(FIX_PLAN.replace('[ ] Parse times\n', '[x] Parse times\n'));
  });

  it('leaves alone what others wrote meanwhile', async () => {
    const { source, file, now } = await read('fix_plan.md', FIX_PLAN);
    const id = Object.entries(source.tasks).find(([, { place }]) => place === 'line 5')?.[0] ?? '';
    const changed = `Hello\n\n- [ ] Something new\n\n${FIX_PLAN}`;
    await writeFile(file, changed);
    await syncMission(source, { [id]: 'accepted' });
    expect(await now()).toBe(changed.replace('[ ] Parse times\n', '[x] Parse times\n'));
  });

  it('is nothing where the task is gone, or the file is no text', async () => {
    const { source, file, now } = await read('prd.json', PRD_JSON);
    await writeFile(file, '{"userStories":[{"id":"x","title":"X"}]}');
    await expect(syncMission(source, { 'US-002': 'accepted' })).rejects.toMatchObject({
      faults: ['the task "US-002" is no longer there'],
    });
    expect(await now()).toBe('{"userStories":[{"id":"x","title":"X"}]}');
    await writeFile(file, Buffer.from([0x22, 0xff, 0x22]));
    await expect(syncMission(source, { 'US-002': 'accepted' })).rejects.toThrow(MissionError);
    expect(await readFile(file)).toEqual(Buffer.from([0x22, 0xff, 0x22]));
  });

  it('keeps the mode and the link of a file, and leaves nothing beside it', async () => {
    const { source, file } = await read('real.md', '- [ ] A\n');
    await chmod(file, 0o640);
    const link = join(folder, 'link.md');
    await symlink(file, link);
    const [id = ''] = Object.keys(source.tasks);
    await syncMission({ ...source, file: link }, { [id]: 'accepted' });
    expect(await readFile(link, 'utf8')).toBe('- [x] A\n');
    expect((await stat(file)).mode & 0o777).toBe(0o640);
    expect(await readdir(folder)).toEqual(['link.md', 'real.md']);
  });

  it('is nothing for a mission of ours', async () => {
    const source = { format: 'orrery', file: join(folder, 'absent.json'), tasks: {}, leftOut: [] } as const;
    expect(await syncMission(source, { a: 'accepted' })).toEqual({ written: [], already: [] });
  });
});

describe('reading after writing back', () => {
  const story = fc.record(
    {
      title: fc.string({ minLength: 1 }),
      passes: fc.boolean(),
      priority: fc.nat(9),
      notes: fc.string(),
      more: fc.jsonValue(),
    },
    { requiredKeys: ['title'] },
  );
  const formatted = fc.constantFrom<string | number>(0, 2, '\t');

  it('finds in prd.json all that was there, and what is accepted done', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(story, { minLength: 1, maxLength: 5 }),
        formatted,
        fc.nat(31),
        async (all, indent, chosen) => {
          // JSON has no -0.
          const plain = JSON.parse(JSON.stringify(all)) as Record<string, unknown>[];
          const userStories = [...plain.map((one, id) => ({ id, ...one })), { id: 'open', title: 'Open' }];
          const { source, now } = await read(
            'prd.json',
            JSON.stringify({ userStories, last: 1 }, null, indent),
          );
          const isChosen = (id: unknown): boolean => typeof id === 'number' && (chosen >> id) % 2 === 1;
          await syncMission(
            source,
            Object.fromEntries(userStories.map(({ id }) => [id, isChosen(id) ? 'accepted' : 'failed'])),
          );
          expect(JSON.parse(await now())).toEqual({
            userStories: userStories.map((one) => (isChosen(one.id) ? { ...one, passes: true } : one)),
            last: 1,
          });
        },
      ),
    );
  });

  it('finds in a checklist all that was there, but for one sign an item', async () => {
    const line = fc.oneof(
      fc
        .tuple(
          fc.constantFrom('', '  ', '    '),
          fc.constantFrom('-', '*', '1.'),
          fc.constantFrom(' ', 'x'),
          fc.constantFrom('a', 'b `c`', '[P] d'),
        )
        .map(([indent, marker, box, words]) => `${indent}${marker} [${box}] ${words}`),
      fc.constantFrom('', '# Heading', '```', 'words', '- plain', '> - [ ] quoted'),
    );
    await fc.assert(
      fc.asyncProperty(
        fc.array(line, { maxLength: 12 }),
        fc.constantFrom('\n', '\r\n'),
        async (lines, end) => {
          const text = ['- [ ] first', ...lines].join(end);
          const { source, now } = await read('list.md', text);
          const [id = '', { place } = { place: '' }] = Object.entries(source.tasks)[0] ?? [];
          await syncMission(source, { [id]: 'accepted' });
          const after = (await now()).split(end);
          const at = Number(place.replace('line ', '')) - 1;
          const expected = text.split(end);
          expected[at] = expected[at]?.replace('[ ]', '[x]') ?? '';
          expect(after).toEqual(expected);
        },
      ),
    );
  });
});
