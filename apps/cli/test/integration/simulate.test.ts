import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { orrery } from '../spawn-orrery.ts';

let folder: string;
let repo: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'orrery-simulate-'));
  repo = join(folder, 'repo');
  mkdirSync(repo);
  writeFileSync(join(repo, 'tsconfig.json'), '{ "compilerOptions": { "strict": true, "noEmit": true } }\n');
  writeFileSync(join(repo, 'wrong.ts'), 'export const count: number = "three";\n');
});
afterEach(() => rmSync(folder, { recursive: true }));

/** A mission of one task for the planet that checks types. */
function missionOf(capability: string): string {
  const file = join(folder, 'mission.json');
  const tasks = [{ id: 'types', title: 'Check the types', capability }];
  writeFileSync(file, JSON.stringify({ version: 1, name: 'types', tasks, limits: { maxAttempts: 3 } }));
  return file;
}

// It computes: how long that takes is the machine's matter.
describe('orrery simulate (F-03)', { timeout: 120_000 }, () => {
  it('runs a mission with the real jobs under seed after seed, and says what came of it', async () => {
    const ended = await orrery('simulate', missionOf('types.check'), '--repo', repo, '--seeds', '6');
    expect(ended).toMatchObject({ code: 0, stderr: '' });
    const [summary, verdict] = ended.stdout.trimEnd().split('\n');
    expect(summary).toMatch(/^"types" under 6 seeds: .*all-accepted [1-6]/);
    expect(verdict).toBe('No seed broke a promise');
  });

  it('says the same for the same seeds', async () => {
    const words = [
      'simulate',
      missionOf('types.check'),
      '--repo',
      repo,
      '--seeds',
      '3',
      '--first-seed',
      '40',
    ];
    const [one, again] = await Promise.all([orrery(...words), orrery(...words)]);
    expect(again).toEqual(one);
  });

  it('refuses a mission that nobody can do, and values that are none', async () => {
    expect(await orrery('simulate', missionOf('nobody.can'), '--repo', repo, '--seeds', '2')).toMatchObject({
      code: 64,
      stderr: expect.stringContaining('nobody.can') as string,
    });
    expect(await orrery('simulate', '--seeds', 'many')).toMatchObject({
      code: 64,
      stderr: expect.stringContaining('Option "--seeds" is "many"') as string,
    });
  });

  it('leaves no trace where nothing is broken', async () => {
    const trace = join(folder, 'trace.jsonl');
    const words = ['simulate', missionOf('types.check'), '--repo', repo, '--seeds', '1', '--record', trace];
    expect(await orrery(...words)).toMatchObject({ code: 0 });
    expect(() => readFileSync(trace)).toThrow('ENOENT');
  });
});
