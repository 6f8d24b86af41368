// Other code for an agent that runs: its state goes along. Code that does not know the state has the agent parked.
// Run: npm exec -- node --conditions=orrery-source examples/upgrade/main.ts
import { isOrreryError, startSystem } from 'orrery';
import { tally } from './tally.ts';

const version = (n: number): URL => new URL(`./tally-${n}.agent.ts`, import.meta.url);

await using system = await startSystem({ agents: [{ module: version(1) }] });
for (const word of ['sun', 'moon', 'sun']) console.log(await system.ask(tally, word));

await system.upgrade('counter', { module: version(2) });
console.log(await system.ask(tally, 'sun'));

// Version 1 has no migration from version 2.
await system.upgrade('counter', { module: version(1) }).catch((error: unknown) => {
  if (isOrreryError(error)) console.log(error.code, '-', error.details['reason']);
});
const waits = system.ask(tally, 'moon');
await system.resume('counter', { module: version(2) });
console.log(await waits);
