import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { capability, considers, decline, defineAgent, startSystem } from 'orrery';
import { expect, it } from 'vitest';
import { z } from 'zod';
import { loopAgents } from '../../agents/loop-agents.ts';
import { runMission } from '../../loop/run-mission.ts';
import { wallClock } from '../../loop/wall-clock.ts';
import { parseMission } from '../../mission/read-mission.ts';
import { buildReport } from '../../report/build-report.ts';
import { explainTask } from '../../report/explain-task.ts';

const work = capability({
  id: 'work.do',
  description: 'Does it',
  input: z.looseObject({ root: z.string() }),
  output: z.looseObject({ summary: z.string() }),
});

const worker = (id: string) =>
  defineAgent({ id, name: id, version: '1.0.0', description: id, tier: 2 }).handle(work, () => ({
    summary: `${id} did it`,
  }));

/** Declines what it is proposed. */
const unwilling = (id: string, reason: string, alternative?: string) =>
  worker(id).on(
    'task-proposal',
    considers(() => decline({ reason, ...(alternative === undefined ? {} : { alternative }) })),
  );

it('says of a running system who was compared, who declined and named whom, and who has the task (N-8.5)', async () => {
  const root = mkdtempSync(join(tmpdir(), 'orrery-choices-'));
  const agents = [
    unwilling('ann', 'BUSY', 'bob'),
    unwilling('bob', 'TIRED', 'dora'),
    worker('dora'),
    worker('eve'),
  ];
  await using system = await startSystem({ agents: [...loopAgents(), ...agents] });
  const mission = parseMission(
    JSON.stringify({
      ...{ version: 1, name: 'choices', limits: { maxAttempts: 1 } },
      tasks: [{ id: 'a', title: 'A', capability: 'work.do' }],
    }),
    'test',
  );
  const report = buildReport(await runMission(mission, { root }, { team: system, clock: wallClock }));
  rmSync(root, { recursive: true });
  expect(report.tasks[0]).toMatchObject({
    status: 'accepted',
    summary: 'dora did it',
    choices: [
      {
        agent: 'ann',
        bids: ['ann', 'bob', 'dora', 'eve'].map((agent) => ({ agent, load: 0 })),
        reason: '4 have as little to do, and it is the first by name',
        answers: [
          { agent: 'ann', said: 'declined', reason: 'BUSY', named: 'bob' },
          { agent: 'bob', said: 'declined', reason: 'TIRED', named: 'dora' },
          { agent: 'dora', said: 'accepted' },
        ],
      },
    ],
  });
  expect(explainTask(report, 'a').join('\n')).toContain('ann declined: BUSY, and named bob');
});
