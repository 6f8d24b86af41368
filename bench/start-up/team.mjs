import { startSystem } from 'orrery';
import { echo } from './echo.agent.mjs';
import { report } from './outcome.mjs';

const AGENTS = 20;

const agents = Array.from({ length: AGENTS }, (_, n) => ({
  module: new URL(`./echo.agent.mjs?${n}`, import.meta.url),
  instances: [`echoer-${n}`],
}));
const system = await startSystem({ agents });
for (const { instances } of agents) await system.ask({ agent: instances[0], capability: echo }, 'hello');
await system.stop();
report();
