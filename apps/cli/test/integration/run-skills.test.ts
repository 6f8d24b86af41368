import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { MissionReport } from '@orrery/ralph-loop';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { Orrery, orrery } from '../spawn-orrery.ts';

let folder: string;
let repo: string;
/** Outside of the repository, whose rules it would break. */
let file: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'orrery-run-skills-'));
  [repo, file] = [join(folder, 'shop'), join(folder, 'report.json')];
  mkdirSync(repo);
  writeFileSync(join(repo, 'wrong.txt'), 'WRONG\n');
  writeFileSync(join(repo, 'mission.json'), JSON.stringify(MISSION));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const WORKSHOP = fileURLToPath(new URL('../fixtures/workshop.agent.ts', import.meta.url));
const MISSION = {
  version: 1,
  name: 'two-steps',
  agents: [WORKSHOP],
  limits: { maxAttempts: 2 },
  tasks: [
    { id: 'first', title: 'A wrong word in a file', capability: 'words.check' },
    {
      id: 'last',
      title: 'What is wrong with the word',
      capability: 'wait.for-word',
      dependsOn: ['first'],
      recall: true,
    },
  ],
};

const begin = (...more: readonly string[]): Orrery =>
  new Orrery(['run', 'mission.json', '--json', file, ...more], { cwd: repo });

async function run(...more: readonly string[]) {
  const { code, stdout, stderr } = await begin('--skills', ...more).ended;
  if (!existsSync(file)) throw new Error(stderr);
  return { code, stdout, stderr, report: MissionReport.parse(JSON.parse(readFileSync(file, 'utf8'))) };
}

/** What the last task waits for. */
const sayWord = () => writeFileSync(join(repo, 'word.txt'), 'go on');

const FINDING = 'wrong.txt: A wrong word. (words/wrong, medium)';

describe('orrery run --skills', () => {
  it('has the next run recall what it learned, and says what it remembers', async () => {
    sayWord();
    const first = await run();
    expect(first.code).toBe(0);
    expect(first.report.skills).toMatchObject({
      project: 'shop',
      learned: { added: 3, gone: 0 },
      failures: [],
    });
    expect(first.stdout).toContain('3 new, 0 changed, 0 known, 0 gone (project "shop")');
    expect(first.report.receipts?.agents.filter(({ restarts }) => restarts > 0)).toEqual([]);
    const second = await run();
    expect(second.report.tasks[1]?.summary).toContain(FINDING);
    const other = await run('--project', 'another');
    expect(other.report.skills).toMatchObject({ project: 'another', learned: { added: 3, kept: 0 } });
  });

  it('remembers what was accepted before a kill -9, once the run is gone on with', async () => {
    const killed = begin('--skills', '--journal', 'journal', '--verbose');
    await killed.printed('last is working');
    killed.child.kill('SIGKILL');
    await killed.ended;
    sayWord();
    const resumed = await run('--journal', 'journal', '--resume');
    expect(resumed.report.tasks.map(({ status }) => status)).toEqual(['accepted', 'accepted']);
    const next = await run();
    expect(next.report.tasks[1]?.summary).toContain(FINDING);
  });

  it('checks the rules in .orrery/knowledge, and fails on what they block with --fail-on', async () => {
    sayWord();
    mkdirSync(join(repo, '.orrery/knowledge'), { recursive: true });
    const rule = `---
type: policy
title: Nothing wrong
status: accepted
constraints: [{ operator: MustNotMatch, target: code, pattern: WRONG, severity: block }]
---
`;
    writeFileSync(join(repo, '.orrery/knowledge/no-wrong.md'), rule);
    const failed = await run('--fail-on', 'high');
    expect(failed).toMatchObject({ code: 1, report: { stopReason: 'findings-at-or-above' } });
    expect(failed.stdout).toContain('1 rule of the repository checked: 1 block');
    expect(failed.stdout).toMatch(/wrong\.txt:1 .* no-wrong, block/);
    writeFileSync(join(repo, 'wrong.txt'), 'right\n');
    expect(await run('--fail-on', 'high')).toMatchObject({ code: 0 });
  });

  it('ends within the moment that a stop takes, and says what it did not do', async () => {
    const stopped = begin('--skills', '--verbose');
    await stopped.printed('last is working');
    stopped.child.kill('SIGINT');
    expect(await stopped.ended).toMatchObject({
      code: 130,
      stdout: expect.stringContaining('The rules were not checked: the run was stopped'),
    });
  });

  it('says what is wrong with the options, before anything starts', async () => {
    const mission = join(repo, 'mission.json');
    expect(await orrery('run', mission, '--project', 'shop')).toMatchObject({
      code: 64,
      stderr: expect.stringContaining('Option "--project" is given without "--skills"'),
    });
    expect(await orrery('run', mission, '--skills', '--project', 'x'.repeat(201))).toMatchObject({
      code: 64,
      stderr: expect.stringContaining('expected a name of 1 to 200 characters'),
    });
    expect(await orrery('run', mission, '--skills-store', 'x.sqlite')).toMatchObject({
      code: 64,
      stderr: expect.stringContaining('Option "--skills-store" is given without "--skills"'),
    });
    expect(await orrery('run', mission)).toMatchObject({
      code: 64,
      stderr: expect.stringContaining('tasks[1].recall: nobody remembers'),
    });
  });
});
