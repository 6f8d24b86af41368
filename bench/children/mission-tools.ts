// Runs every tool of the audit on this repository, one after the other, and says what each took.
import { realpathSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { readMission } from '@orrery/ralph-loop';
import { AgentDefinition } from 'orrery';
import { auditMission, auditTeam } from '../../apps/audit/audit-team.ts';
import { listRepository } from '../../apps/audit/list-repository.ts';
import { toolsOf } from '../../apps/audit/planet.ts';
import { runTool } from '../../apps/audit/run-tool.ts';

export interface ToolTimes {
  readonly name: string;
  readonly wallMs: number;
}

const root = realpathSync(fileURLToPath(new URL('../../', import.meta.url)));
const { signal } = new AbortController();
const { files } = await listRepository(root, signal);
const modules = await Promise.all(auditTeam().map(({ module }) => import(module.href)));
const planets = modules
  .flatMap((module) => Object.values(module as object))
  .filter((one) => one instanceof AgentDefinition);
const { tasks } = await readMission(auditMission(root));

const times: ToolTimes[] = [];
for (const planet of planets) {
  const input = tasks.find(({ capability = '' }) => planet.handlers.has(capability))?.input;
  for (const tool of toolsOf(planet)) {
    const taken = files.map(({ path }) => path).filter(tool.takes);
    if (taken.length === 0) continue;
    const startedAtMs = performance.now();
    const outcome = await runTool(
      tool,
      { root, files: taken, input: { ...input } },
      { agent: 'bench', signal, progress: () => undefined },
    );
    if ('died' in outcome) throw new Error(`${tool.name}: ${outcome.died}`);
    times.push({ name: tool.name, wallMs: performance.now() - startedAtMs });
  }
}
console.log(JSON.stringify(times));
