// A mission for agents that compute and agents that think with a model; what the models say is checked against the files.
// Run: npm exec -- node --conditions=orrery-source examples/mission-with-models/main.ts
// With a model of your own: MODEL_URL=http://127.0.0.1:8080/v1 MODEL_NAME=... (MODEL_KEY=...) in front of it.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { startSystem } from 'orrery';
import { loopAgents, readMission, runMission, wallClock } from 'orrery/missions';
import { startLittleModel } from './little-model.ts';

await using little = process.env['MODEL_URL'] === undefined ? await startLittleModel() : undefined;
// The agents' threads read it there.
if (little !== undefined) process.env['MODEL_URL'] = little.url;

// A repository with something to find.
const root = mkdtempSync(join(tmpdir(), 'orrery-review-'));
writeFileSync(join(root, 'run.js'), 'export const run = (text) => eval(text);\n');
writeFileSync(join(root, 'page.js'), 'export const show = (text) => (document.body.innerHTML = text);\n');

// SUN assigns, MERCURY is the gate, SCANNER scans: they compute. The other two think.
const others = ['scanner', 'reviewer', 'writer'].map((name) => ({
  module: new URL(`./${name}.agent.ts`, import.meta.url),
  isolation: 'thread' as const,
}));
await using system = await startSystem({ agents: [...loopAgents(), ...others], workers: 2 });

const mission = await readMission(fileURLToPath(new URL('./mission.json', import.meta.url)));
try {
  const { stopReason, tasks } = await runMission(mission, { root }, { team: system, clock: wallClock });
  for (const { status, context } of tasks) {
    const { item, assignee, attempts, findings, refused, result } = context;
    const counts = `findings: ${findings.length}, refused by the gate: ${refused.length}`;
    console.log(`${item.id}: ${status}, ${assignee?.agent}, attempt ${attempts.length}, ${counts}`);
    for (const { reason } of result?.notes ?? []) console.log(`  ${reason}`);
  }
  console.log(stopReason);
  const calls = (await system.recentEvents()).filter(({ type }) => type === 'model-call');
  console.log(`calls of a model: ${calls.length}`);
} finally {
  rmSync(root, { recursive: true });
}
