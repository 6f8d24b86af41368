// Runs the audit of a repository, this one if none is given, as a mission, and says what that took from the first agent's
// start to its outcome.
import { realpathSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { readMission, runMission, wallClock } from '@orrery/ralph-loop';
import { startSystem } from 'orrery';
import { auditMission, auditTeam } from '../../apps/audit/audit-team.ts';

export interface MissionTimes {
  readonly wallMs: number;
  readonly stopReason: string;
}

const root = realpathSync(process.argv[2] ?? fileURLToPath(new URL('../../', import.meta.url)));
const startedAtMs = performance.now();
const system = await startSystem({ agents: auditTeam(), spareThread: false, workers: 1 });
const mission = await readMission(auditMission(root));
const { stopReason } = await runMission(mission, { root }, { team: system, clock: wallClock });
await system.stop({ drainMs: 0 });
const times: MissionTimes = {
  wallMs: performance.now() - startedAtMs,
  stopReason,
};
console.log(JSON.stringify(times));
