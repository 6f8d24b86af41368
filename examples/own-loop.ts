// A loop of one's own that blocks its thread: the agents work on meanwhile.
// Run: npm exec -- node --conditions=orrery-source examples/own-loop.ts
import { spawnSync } from 'node:child_process';
import { startSystem } from 'orrery';
import { step } from './counting.agent.ts';

await using system = await startSystem({
  agents: [{ module: new URL('./counting.agent.ts', import.meta.url) }],
});

for (let round = 1; round <= 2; round++) {
  const asked = [1, 2, 3].map((n) => system.ask(step, { n }));
  await new Promise<void>((resolve) => setImmediate(resolve));
  // A coding tool that runs for minutes, say.
  spawnSync(process.execPath, ['-e', 'setTimeout(() => {}, 500)']);
  const freeAtMs = Date.now();
  const answers = await Promise.all(asked);
  const early = answers.filter(({ doneAtMs }) => doneAtMs < freeAtMs).length;
  console.log(`round ${round}: ${early} of ${answers.length} steps were done while this thread was blocked`);
}
