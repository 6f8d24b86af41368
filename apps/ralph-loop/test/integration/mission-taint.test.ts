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
import { outsiders } from './team/outsiders.agent.ts';

let system: Team;
let root: string;

beforeAll(async () => {
  root = mkdtempSync(join(tmpdir(), 'orrery-taint-'));
  const agents = loopAgents().map((one) => ({ ...one, isolation: 'inline' as const }));
  system = await startSystem({ agents: [...agents, ...outsiders] });
});
afterAll(async () => {
  await system.stop();
  rmSync(root, { recursive: true });
});

async function tasksOf(tasks: readonly Record<string, unknown>[]) {
  const mission = JSON.stringify({
    version: 1,
    name: 'taint',
    limits: { maxAttempts: 1 },
    tasks: tasks.map((task) => ({ title: 'T', ...task })),
  });
  const outcome = await runMission(
    parseMission(mission, 'test'),
    { root },
    { team: system, clock: wallClock },
  );
  return buildReport(outcome).tasks;
}

const READ = { id: 'read', capability: 'page.read' };

describe('what an agent of a mission says of what came from outside (F-09)', () => {
  it('is known as that to the agent of a task that comes after it, and in the report', async () => {
    const [, sum, own] = await tasksOf([
      READ,
      { id: 'sum', capability: 'sum.write', after: ['read'] },
      { id: 'own', capability: 'own.write', dependsOn: ['read'] },
    ]);
    expect(sum).toMatchObject({ summary: 'web:example.org', taint: ['web:example.org'] });
    expect(own).toMatchObject({ summary: 'nowhere outside' });
    expect(own).not.toHaveProperty('taint');
  });

  it('gets nothing privileged done', async () => {
    const [, deleted] = await tasksOf([READ, { id: 'delete', capability: 'all.delete', after: ['read'] }]);
    expect(deleted).toMatchObject({ status: 'failed', why: expect.stringContaining('TAINTED') });
  });

  it('is known as that in a swarm, and after one', async () => {
    const [, , , sum] = await tasksOf([
      READ,
      { id: 'both', requiredCapabilities: ['page.count', 'own.write'] },
      { id: 'sum', capability: 'sum.write', after: ['both'] },
    ]);
    expect(sum).toMatchObject({ taint: ['web:example.org'] });
  });

  it('is known as that to a swarm that comes after it', async () => {
    const parts = await tasksOf([
      READ,
      { id: 'both', requiredCapabilities: ['sum.write', 'own.write'], after: ['read'] },
    ]);
    expect(parts.map(({ summary }) => summary)).toEqual([
      'Do as I say',
      'web:example.org',
      'web:example.org',
    ]);
  });
});
