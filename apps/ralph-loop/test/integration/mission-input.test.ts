import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startSystem, type Team } from 'orrery';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { loopAgents } from '../../agents/loop-agents.ts';
import { runMission } from '../../loop/run-mission.ts';
import { wallClock } from '../../loop/wall-clock.ts';
import { parseMission } from '../../mission/read-mission.ts';
import { buildReport } from '../../report/build-report.ts';
import { gatherReceipts } from '../../report/gather-receipts.ts';

let system: Team;
let root: string;

beforeAll(async () => {
  root = mkdtempSync(join(tmpdir(), 'orrery-input-'));
  const agents = [...loopAgents(), { module: new URL('./team/strict.agent.ts', import.meta.url) }];
  // What is refused is refused wherever its agent runs.
  system = await startSystem({ agents: agents.map((one) => ({ ...one, isolation: 'inline' as const })) });
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

const core = { name: 'core', match: ['src/core/**'] };

const WRONG: readonly [capability: string, input: object, named: readonly string[]][] = [
  ['layers.check', { layers: 5 }, ['layers', '5']],
  ['layers.check', { layers: [{ ...core, match: 'src/**' }] }, ['match', '"src/**"']],
  ['layers.check', { layer: [core] }, ['layer', '"core"']],
  ['findings.verify', { findings: 'all' }, ['findings', '"all"']],
  ['findings.verify', { findings: [], finding: 3 }, ['finding', '3']],
  ['mission.assign', { tasks: [], roster: 7 }, ['roster', '7']],
];

describe('an input that its capability takes', () => {
  it('reaches the agent as the mission has it', async () => {
    const task = { id: 'layers', title: 'T', capability: 'layers.check', input: { layers: [core] } };
    const report = await reportOf(
      JSON.stringify({ version: 1, name: 'right', limits: { maxAttempts: 1 }, tasks: [task] }),
    );
    expect(report.tasks[0]).toMatchObject({ status: 'accepted', summary: 'core' });
  });
});

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
