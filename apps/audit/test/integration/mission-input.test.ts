import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startSystem, type Team } from 'orrery';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { buildReport, gatherReceipts, parseMission, runMission, wallClock } from '@orrery/ralph-loop';
import { auditTeam } from '../../audit-team.ts';

let system: Team;
let root: string;

beforeAll(async () => {
  root = mkdtempSync(join(tmpdir(), 'orrery-input-'));
  mkdirSync(join(root, 'src/core'), { recursive: true });
  writeFileSync(join(root, 'src/core/a.ts'), "import {b} from '../b.ts'; export const a = b;\n");
  writeFileSync(join(root, 'src/b.ts'), 'export const b = 1;\n');
  system = await startSystem({ agents: auditTeam() });
});
afterAll(async () => {
  await system.stop();
  rmSync(root, { recursive: true });
});

async function reportOf(mission: string) {
  const outcome = await runMission(
    parseMission(mission, 'test'),
    { root },
    { team: system, clock: wallClock },
  );
  return buildReport(outcome, { receipts: await gatherReceipts(system, outcome) });
}

const documented = (): string =>
  readFileSync(new URL('../../../../docs/missions.md', import.meta.url), 'utf8')
    .split('```json mission\n')[1]
    ?.split('```')[0] ?? '';

describe('the mission that docs/missions.md shows', () => {
  it('finds the import that its layers do not allow', async () => {
    const report = await reportOf(documented());
    expect(report.findings).toMatchObject([
      { rule: 'layers/breach', file: 'src/core/a.ts', line: 1, agent: 'jupiter', task: 'structure' },
    ]);
    expect(report.stopReason).toBe('all-accepted');
  });
});

const core = { name: 'core', match: ['src/core/**'] };

const WRONG: readonly [capability: string, input: object, named: readonly string[]][] = [
  ['architecture.cycles', { layers: 5 }, ['layers', '5']],
  ['architecture.cycles', { layers: [{ ...core, match: 'src/**' }] }, ['match', '"src/**"']],
  ['architecture.cycles', { layers: [{ ...core, mayImport: ['cor'] }] }, ['mayImport', 'is ["cor"]: Layer']],
  ['architecture.cycles', { layer: [core] }, ['layer', '"core"']],
  ['types.check', { strict: true }, ['strict', 'true']],
  ['security.scan', { paths: ['src'] }, ['paths', '"src"']],
  ['findings.verify', { findings: 'all' }, ['findings', '"all"']],
  ['findings.verify', { findings: [], finding: 3 }, ['finding', '3']],
  ['mission.assign', { tasks: [], roster: 7 }, ['roster', '7']],
];

describe('an input that makes no sense', () => {
  it('fails its task at once with the field and the value, and costs no agent its life', async () => {
    const tasks = WRONG.map(([capability, input], index) => ({
      id: `t${index}`,
      title: 'T',
      capability,
      input,
    }));
    const report = await reportOf(
      JSON.stringify({ version: 1, name: 'wrong', limits: { maxAttempts: 3 }, tasks }),
    );
    expect(report).toMatchObject({ stopReason: 'task-failed', exitCode: 1 });
    for (const [index, [, , named]] of WRONG.entries()) {
      const task = report.tasks[index];
      expect(task).toMatchObject({ status: 'failed', attempts: [{ ended: 'lost' }] });
      for (const words of named) expect(task?.why).toContain(words);
    }
    expect(report.receipts?.agents.filter(({ restarts }) => restarts > 0)).toEqual([]);
  });
});
