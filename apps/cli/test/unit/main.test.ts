import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { orrery } from '../spawn-orrery.ts';

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'orrery-cli-'));
  writeFileSync(join(folder, 'file'), '');
  writeFileSync(join(folder, 'broken.json'), '{\n  "version": 1,,\n}');
  writeFileSync(
    join(folder, 'endless.json'),
    '{"version":1,"name":"m","limits":{},"tasks":[{"id":"a","title":"A","capability":"c"}]}',
  );
});
afterAll(() => rmSync(folder, { recursive: true }));

describe('orrery', () => {
  it('prints its version', async () => {
    expect(await orrery('--version')).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(/^orrery \d+\.\d+\.\d+\n$/) as string,
    });
  });

  it('prints help for itself and for a command', async () => {
    const [all, run] = await Promise.all([orrery('--help'), orrery('run', '--help')]);
    expect(all).toMatchObject({
      code: 0,
      stderr: '',
      stdout: expect.stringContaining('orrery agents') as string,
    });
    expect(run).toMatchObject({
      code: 0,
      stderr: '',
      stdout: expect.stringContaining('--fail-on SEVERITY') as string,
    });
  });

  const refused: readonly [string, () => string[], string][] = [
    [
      'no command',
      () => [],
      "No command; expected run, init, doctor, up, mcp, key, simulate, journal or agents\nSee 'orrery --help'.",
    ],
    [
      'an unknown option',
      () => ['run', '--recrd', 'x'],
      `Unknown option "--recrd" for "run"; did you mean "--record"?\nSee 'orrery run --help'.`,
    ],
    [
      'a severity that is none',
      () => ['run', '--fail-on', 'severe'],
      'Option "--fail-on" is "severe", expected one of',
    ],
    [
      'a repository that does not exist',
      () => ['run', '--repo', '/no/such'],
      'Option "--repo" is "/no/such": The repository /no/such does not exist',
    ],
    ['a repository that is a file', () => ['run', '--repo', join(folder, 'file')], 'is not a directory'],
    [
      'a mission that does not exist',
      () => ['run', '/no/mission.json'],
      'The mission /no/mission.json cannot be run:\n  no such file',
    ],
    ['a mission that is not JSON', () => ['run', join(folder, 'broken.json')], 'line 2, column 16: not JSON'],
    [
      'a mission without a limit',
      () => ['run', join(folder, 'endless.json')],
      'limits: no limit; expected maxAttempts, timeoutMs or both',
    ],
    [
      'a report that cannot be written',
      () => ['run', '--json', '/no/such/report.json'],
      'Option "--json" is "/no/such/report.json": the folder /no/such does not exist',
    ],
    [
      'a trace that cannot be written',
      () => ['run', '--json', join(folder, 'r.json'), '--record', folder],
      'which is a folder, expected a file',
    ],
    [
      'one file for two things',
      () => ['run', '--json', join(folder, 'x'), '--record', `${folder}/./x`],
      'both name',
    ],
    [
      'a task to explain that there is not',
      () => ['run', '--explain', 'type'],
      'Option "--explain" is "type", expected a task: types, promises, ',
    ],
  ];

  it.each(refused)('refuses %s with 64, and leaves nothing behind', async (_, words, message) => {
    const ended = await orrery(...words());
    expect(ended).toMatchObject({ code: 64, stdout: '' });
    expect(ended.stderr).toContain(`orrery: `);
    expect(ended.stderr).toContain(message);
    expect(readdirSync(folder).sort()).toEqual(['broken.json', 'endless.json', 'file']);
  });
});
