// An agent that throws, and then loops for ever; it is back each time.
// Run: npm exec -- node --conditions=orrery-source examples/supervised-crash.ts
import { startSystem } from 'orrery';
import { divide } from './crashing.agent.ts';

await using system = await startSystem({
  agents: [{ module: new URL('./crashing.agent.ts', import.meta.url) }],
});

for (const divisor of [4, 0, 4, -1, 4]) {
  const answer = await system
    .ask(divide, { dividend: 10, divisor })
    .catch((error) => `${error.code}: ${error.message}`);
  console.log(`10 / ${divisor} = ${answer}`);
}
const [pluto] = await system.roster();
console.log(`${pluto?.id} is ${pluto?.status} after ${pluto?.restarts} restarts`);
