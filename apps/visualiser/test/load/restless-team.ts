/** Runs agents that are never done, and serves the page of them. Says its address when it listens; ends with its parent. */
import { pathToFileURL } from 'node:url';
import { startSystem } from 'orrery';
import { roam, TEAM } from './restless.ts';

/** Things that go round. */
const ROAMERS = 60;
/** What has got lost is replaced this often. */
const REFILL_MS = 1_000;

const [folder = ''] = process.argv.slice(2);
const system = await startSystem({
  agents: [{ module: new URL('./restless.agent.ts', import.meta.url), instances: [...TEAM] }],
  workers: 2,
  supervision: { intensity: { maxRestarts: 1_000_000 }, backOff: { firstMs: 1, maxMs: 10 } },
});
const { url } = await system.serve({ a2a: false, mcp: false, watch: { page: pathToFileURL(`${folder}/`) } });
let next = 0;
const send = (): void => {
  const agent = TEAM[next++ % TEAM.length] ?? '';
  system.tell({ agent, capability: roam }, 1);
};
for (let count = 0; count < ROAMERS; count++) send();
setInterval(async () => {
  // An agent that dies takes with it what it has in hand.
  const { inFlight } = await system.conservation();
  for (let count = inFlight; count < ROAMERS; count++) send();
}, REFILL_MS);
process.on('disconnect', () => process.exit(0));
process.send?.({ url });
