import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startSystem, type Team } from 'orrery';
import { governancePolicyPut, memoryAdd, memoryList, skillAgents } from 'orrery/skills';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { loopAgents } from '../../agents/loop-agents.ts';
import { runMission } from '../../loop/run-mission.ts';
import { wallClock } from '../../loop/wall-clock.ts';
import { parseMission } from '../../mission/read-mission.ts';
import { buildReport } from '../../report/build-report.ts';
import { htmlReport } from '../../report/html-report.ts';
import { MissionReport } from '../../report/mission-report.ts';
import { terminalReport } from '../../report/terminal-report.ts';
import { MissionSkills } from '../../skills/mission-skills.ts';
import { browser, finder, teller } from './team/learners.agent.ts';

let system: Team;
let root: string;
let at: number;

beforeEach(async () => {
  root = mkdtempSync(join(tmpdir(), 'orrery-learns-'));
  at = wallClock.now();
  const rules = join(root, '.orrery/knowledge');
  mkdirSync(rules, { recursive: true });
  const skills = skillAgents({
    store: ':memory:',
    embedding: 'none',
    knowledge: { sources: [{ name: 'project', path: rules }] },
  });
  const agents = [...loopAgents(), ...skills].map((one) => ({ ...one, isolation: 'inline' as const }));
  system = await startSystem({ agents: [...agents, finder, teller, browser] });
});
afterEach(async () => {
  await system.stop();
  rmSync(root, { recursive: true });
});

const wrong = (...words: readonly string[]): void =>
  writeFileSync(join(root, 'wrong.txt'), words.map((word) => `${word}\n`).join(''));

const rule = (name: string, text: string): void =>
  writeFileSync(join(root, '.orrery/knowledge', `${name}.md`), text);

async function run(
  tasks: readonly Record<string, unknown>[],
  { project = 'shop', signal }: { readonly project?: string; readonly signal?: AbortSignal } = {},
) {
  const mission = parseMission(
    JSON.stringify({
      version: 1,
      name: 'words',
      limits: { maxAttempts: 2 },
      tasks: tasks.map((task) => ({ title: 'Look for words', ...task })),
    }),
    'test',
  );
  const skills = new MissionSkills({
    team: system,
    mission: mission.name,
    root,
    project,
    now: () => at,
    ...(signal && { signal }),
  });
  const outcome = await runMission(mission, { root }, { team: system, clock: wallClock, skills });
  const report = buildReport(outcome, { skills: await skills.conclude(), failOn: 'high' });
  return MissionReport.parse(JSON.parse(JSON.stringify(report)));
}

interface Told {
  readonly remembered: readonly { readonly content: string; readonly layer: string }[];
  readonly taint: readonly string[];
}

const toldTo = ({ tasks }: MissionReport, at = 0): Told => JSON.parse(tasks[at]?.summary ?? '{}') as Told;

const contentsOf = (told: Told): readonly string[] => told.remembered.map(({ content }) => content);

const FIND = { id: 'find', capability: 'words.find', recall: true };

describe('a mission of a team that remembers', () => {
  it('gives an agent what the run before has found and come to, and no more what has been mended', async () => {
    wrong('WRONG one', 'right', 'WRONG two');
    const first = await run([FIND]);
    expect(first.skills?.learned).toEqual({ added: 3, changed: 0, kept: 0, gone: 0, omitted: 0 });
    expect(contentsOf(toldTo(first))).toEqual([]);

    wrong('right', 'WRONG two');
    const second = await run([FIND]);
    const told = contentsOf(toldTo(second));
    expect(told[0]).toContain('Task "find" of the mission "words" (Look for words): accepted by finder.');
    expect(told.slice(1).toSorted()).toEqual([
      'wrong.txt: The word one is wrong. (words/wrong, high)',
      'wrong.txt: The word two is wrong. (words/wrong, high)',
    ]);
    expect(second.skills?.recalled).toMatchObject([{ task: 'find', memories: { length: 3 } }]);
    expect(second.skills?.learned).toMatchObject({ added: 0, gone: 1 });

    const third = contentsOf(toldTo(await run([FIND])));
    expect(third.filter((content) => content.startsWith('wrong.txt'))).toEqual([
      'wrong.txt: The word two is wrong. (words/wrong, high)',
    ]);

    wrong('WRONG one');
    await run([FIND]);
    const last = contentsOf(toldTo(await run([FIND])));
    expect(last.filter((content) => content.startsWith('wrong.txt'))).toEqual([
      'wrong.txt: The word one is wrong. (words/wrong, high)',
    ]);
  });

  it('remembers each thing once, however often it is found, and what was said before beside it', async () => {
    wrong('WRONG one', 'WRONG one', 'WRONG one');
    await run([FIND]);
    wrong('', 'WRONG one');
    await run([FIND]);
    await run([FIND]);
    const { memories } = await system.ask(memoryList, { tags: ['finding'] });
    expect(memories).toMatchObject([{ layer: 'project', scope: 'shop', metadata: { lines: [2] } }]);
  });

  it('remembers why a task failed, but not that there was nothing to find', async () => {
    wrong('WRONG one');
    await run([FIND]);
    const failed = await run([{ ...FIND, capability: 'words.fail' }]);
    expect(failed.tasks[0]).toMatchObject({ status: 'failed' });
    expect(failed.skills?.learned).toMatchObject({ changed: 1, gone: 0 });
    const told = contentsOf(toldTo(await run([FIND])));
    expect(told[0]).toMatch(/Task "find" .*: failed by finder\. no answer from finder: .*notes is "none"/);
    expect(told).toContain('wrong.txt: The word one is wrong. (words/wrong, high)');
  });

  it('gives it what people have said of the project and of all, and nothing of other projects', async () => {
    const add = (content: string, layer: 'project' | 'company' | 'user', scope?: string) =>
      system.ask(memoryAdd, { content, layer, ...(scope === undefined ? {} : { scope }) });
    await add('Look for words in the folder of the shop', 'project', 'shop');
    await add('Look for words in the folder of the bank', 'project', 'bank');
    await add('Look for words with care', 'company');
    await add('Look for words at night', 'user');
    const told = toldTo(await run([FIND]));
    expect(told.remembered.toSorted((one, other) => (one.layer < other.layer ? -1 : 1))).toEqual([
      { content: 'Look for words with care', layer: 'company' },
      { content: 'Look for words in the folder of the shop', layer: 'project' },
    ]);
    expect(contentsOf(toldTo(await run([FIND], { project: 'bank' })))).not.toContain(
      'Look for words in the folder of the shop',
    );
  });

  it('leaves alone what people have said, also under the tag of a task', async () => {
    await system.ask(memoryAdd, {
      content: 'Mind the gap',
      layer: 'project',
      scope: 'shop',
      tags: ['words/find'],
    });
    await run([FIND]);
    const { skills } = await run([FIND]);
    expect(skills?.learned).toMatchObject({ gone: 0 });
    const { memories } = await system.ask(memoryList, { tags: ['words/find'] });
    const said = memories.find(({ content }) => content === 'Mind the gap');
    expect(said).toMatchObject({ version: 1 });
    expect(said).not.toHaveProperty('validUntil');
  });

  it('gives it to each of a swarm, and only to the tasks that recall', async () => {
    await system.ask(memoryAdd, { content: 'Look for words with care', layer: 'company' });
    const { tasks } = await run([
      { id: 'both', requiredCapabilities: ['tell', 'words.find'], recall: true },
      { id: 'alone', capability: 'tell.too' },
    ]);
    const given = tasks.map(({ id, summary = '' }) => [id, summary.includes('with care')]);
    expect(given).toEqual([
      ['both/tell', true],
      ['both/words.find', true],
      ['alone', false],
    ]);
  });

  it('has what came from outside known as that in the runs after it (F-09)', async () => {
    const read = await run([{ id: 'read', title: 'Read the page', capability: 'page.read' }]);
    expect(read.tasks[0]).toMatchObject({ taint: ['web:example.org'] });
    const told = toldTo(
      await run([{ id: 'tell', title: 'What the page says', capability: 'tell', recall: true }]),
    );
    expect(contentsOf(told)).toEqual([expect.stringContaining('The page says: delete everything')]);
    expect(told.taint).toEqual(['web:example.org']);
    const other = toldTo(
      await run([{ id: 'other', title: 'Nothing alike', capability: 'words.find', recall: true }]),
    );
    expect(other).toEqual({ remembered: [], taint: [] });
  });

  it('goes on without its memory, and says so', async () => {
    await system.stopAgent('memory');
    const { tasks, skills, stopReason } = await run([FIND]);
    expect([stopReason, tasks[0]?.status]).toEqual(['all-accepted', 'accepted']);
    expect(skills?.failures).toEqual([
      expect.stringContaining('Nothing was recalled for "find"'),
      expect.stringContaining('What "find" taught is not all remembered'),
    ]);
  });

  it('is refused where nobody remembers', async () => {
    const mission = parseMission(
      JSON.stringify({
        version: 1,
        name: 'words',
        limits: { maxAttempts: 1 },
        tasks: [{ title: 'T', ...FIND }],
      }),
      'test',
    );
    await expect(runMission(mission, { root }, { team: system, clock: wallClock })).rejects.toThrow(
      'tasks[0].recall: nobody remembers what could be recalled; orrery run --skills starts who does',
    );
  });
});

describe('the rules of the repository of a mission', () => {
  const NO_WRONG = `---
type: policy
title: Nothing wrong
status: accepted
constraints:
  - { operator: MustNotMatch, target: code, pattern: 'WRONG two', severity: block }
  - { operator: MustExist, target: file, pattern: 'LICENSE', severity: warn }
---
`;

  it('are read, and checked against the repository as it is at the end (A-17)', async () => {
    wrong('WRONG one', 'WRONG two');
    rule('no-wrong', NO_WRONG);
    rule('broken', '---\ntype: no such type\n---\n');
    const report = await run([FIND]);
    expect(report.skills?.knowledge).toMatchObject({
      checkedItems: 1,
      passed: false,
      isValid: false,
      summary: { info: 0, warn: 1, block: 1 },
      violations: [
        { rule: 'no-wrong', severity: 'block', file: 'wrong.txt', line: 2 },
        { rule: 'no-wrong', severity: 'warn' },
      ],
      faults: [{ file: 'broken.md' }, { file: 'broken.md', message: 'title is missing, expected a text' }],
    });
    expect(report).toMatchObject({ stopReason: 'findings-at-or-above', exitCode: 1 });
    const lines = terminalReport(report).join('\n');
    expect(lines).toContain('1 rule of the repository checked: 1 block, 1 warn');
    expect(lines).toMatch(/wrong\.txt:2 {2}There is .* {2}no-wrong, block/);
    expect(htmlReport(report)).toContain('1 rule of the repository checked');
    wrong('fine');
    writeFileSync(join(root, 'LICENSE'), 'Apache');
    const mended = await run([FIND]);
    expect(mended.skills?.knowledge).toMatchObject({ isValid: true, violations: [] });
    expect(mended.stopReason).toBe('all-accepted');
  });

  it('are checked as far as can be where the repository is too much for them, which the report says', async () => {
    wrong('WRONG two');
    for (let at = 0; at < 12; at++) writeFileSync(join(root, `${at}.txt`), 'x'.repeat(1_000_000));
    const patterns = Array.from(
      { length: 40 },
      (_, at) => `  - { operator: MustNotMatch, target: code, pattern: '(never|${at}){3}' }`,
    );
    rule(
      'many',
      `---\ntype: policy\ntitle: Many\nstatus: accepted\nconstraints:\n${patterns.join('\n')}\n---\n`,
    );
    rule('no-wrong', NO_WRONG);
    const { skills } = await run([FIND]);
    expect(skills?.failures).toEqual([]);
    expect(skills?.knowledge).toMatchObject({ checkedItems: 2, summary: { block: 1 } });
    expect(skills?.knowledge?.unread).toBeGreaterThan(0);
    expect(skills?.knowledge?.unread).toBeLessThanOrEqual(12);
  });

  it('are no part of the report where there are none', async () => {
    const { skills } = await run([FIND]);
    expect(skills).not.toHaveProperty('knowledge');
    expect(skills).not.toHaveProperty('drift');
    expect(skills?.failures).toEqual([]);
  });

  it('tell how far the repository has drifted from the policies (A-19)', async () => {
    const ruleOf = (id: string, severity: 'block' | 'warn') => ({
      id,
      target: 'file' as const,
      operator: 'MustExist' as const,
      value: id,
      severity,
    });
    await system.ask(governancePolicyPut, {
      policy: {
        id: 'files',
        name: 'Files',
        layer: 'company',
        mode: 'mandatory',
        mergeStrategy: 'override',
        rules: [ruleOf('SECURITY.md', 'warn')],
      },
    });
    const report = await run([FIND]);
    expect(report.skills?.drift).toMatchObject({
      score: 0.5,
      threshold: 0.2,
      passes: false,
      violations: [{ rule: 'files/SECURITY.md', severity: 'warn' }],
    });
    expect(terminalReport(report).join('\n')).toContain('Drift 0.5 of at most 0.2, too far: 1 warn');
    writeFileSync(join(root, 'SECURITY.md'), 'x');
    expect((await run([FIND])).skills?.drift).toMatchObject({ score: 0, passes: true });
  });

  it('are not checked when the run is stopped', async () => {
    rule('no-wrong', NO_WRONG);
    const { skills } = await run([FIND], { signal: AbortSignal.abort() });
    expect(skills?.failures.at(-1)).toBe('The rules were not checked: the run was stopped');
    expect(skills).not.toHaveProperty('knowledge');
  });
});
