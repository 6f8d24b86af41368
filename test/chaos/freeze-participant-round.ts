import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { startSystem } from 'orrery';
import { until } from '../fixtures/until.ts';
import { type Figures, note } from './figures.ts';
import { shift } from './fixtures/shift.ts';
import type { ScenarioDeps } from './scenario.ts';

const MODULE = new URL('./fixtures/shift.agent.ts', import.meta.url);
const AGENTS = ['worker-a', 'worker-b', 'worker-c'];
const LEASE_MS = 3_000;
const PATIENCE_MS = 60_000;

/**
 * An agent's process is stopped in the middle of a sub-task, for longer than its lease, and goes on when another agent has
 * done it: the late result does not count, and the agent that was not to be seen is not taken for dead.
 */
export async function freezeParticipant({ folder, say }: ScenarioDeps, figures: Figures): Promise<void> {
  const [marks, thaw, gate] = ['marks', 'thaw', 'gate'].map((name) => join(folder, name)) as [
    string,
    string,
    string,
  ];
  writeFileSync(marks, '');
  const broken = (what: string): unknown => figures.broken.push(`a frozen participant: ${what}`);
  const system = await startSystem({
    agents: [
      {
        module: MODULE,
        instances: AGENTS,
        isolation: 'process',
        permissions: { read: [folder], write: [folder] },
      },
    ],
  });
  try {
    const plan = [
      { id: 'frozen', requiredCapabilities: [shift.id], input: { marks, ms: 0, waitsFor: thaw } },
      {
        id: 'last',
        requiredCapabilities: [shift.id],
        input: { marks, ms: 0, waitsFor: gate },
        dependsOn: ['frozen'],
      },
    ];
    const limits = { leaseMs: LEASE_MS, graceMs: 2 * PATIENCE_MS, recruitMs: PATIENCE_MS };
    const { id } = await system.swarms.createSwarm('Freeze', [], { ...limits, plan });
    const subTask = () => system.swarms.getSwarm(id)?.subTasks.find((one) => one.id === 'frozen');
    const pid = await until('it is begun', () => begunBy(marks), PATIENCE_MS);
    process.kill(pid, 'SIGSTOP');
    try {
      await until('another one has done it', () => subTask()?.status === 'completed', PATIENCE_MS);
      writeFileSync(thaw, '');
    } finally {
      process.kill(pid, 'SIGCONT');
    }
    figures.freezes += 1;
    await until('the late result is here', () => subTask()?.lates.length === 1, PATIENCE_MS);
    writeFileSync(gate, '');
    const outcome = await system.swarms.outcome(id);
    const [frozen] = outcome.subTasks;
    const counted = outcome.results['frozen'] as { epoch: number } | undefined;
    if (outcome.status !== 'completed') broken(`the swarm is ${outcome.status}`);
    if (counted === undefined || counted.epoch < 2) broken(`its result is ${JSON.stringify(counted)}`);
    if (frozen?.lates[0]?.epoch !== 1) broken(`late is ${JSON.stringify(frozen?.lates)}`);
    if (frozen?.assignments[0]?.end !== 'stalled') broken(`it ended ${frozen?.assignments[0]?.end}`);
    const completed = frozen?.assignments.filter(({ end }) => end === 'completed').length ?? 0;
    if (completed !== 1) figures.appliedTwice += 1;
    const restarts = (await system.roster()).reduce((sum, row) => sum + row.restarts, 0);
    if (restarts > 0) broken(`${restarts} agents were restarted`);
    const { holds } = await system.conservation();
    if (!holds) broken('the envelopes do not add up');
    figures.accepted += outcome.subTasks.length;
    figures.handled += Object.keys(outcome.results).length;
    note(figures, 'late results refused', frozen?.lates.length);
    say('a participant stood still for longer than its lease');
  } finally {
    await system.stop();
  }
}

/** The process in which the first assignment is in hand. */
function begunBy(marks: string): number | undefined {
  const [what, , , epoch, pid] = readFileSync(marks, 'utf8').split('\n')[0]?.split(' ') ?? [];
  return what === 'begun' && epoch === '1' ? Number(pid) : undefined;
}
