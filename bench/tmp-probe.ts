import { startSystem } from 'orrery';
import { floodBurst } from './agents/flood-capabilities.ts';
import { inTwoWorkers } from './orrery-team.ts';
const module = (file: string): URL => new URL(`./agents/${file}`, import.meta.url);
const system = await startSystem({ agents: inTwoWorkers([{ module: module('flooder.agent.ts'), instances: ['flooder'] }],
 [{ module: module('slow-receiver.agent.ts'), instances: ['slow'] }, { module: module('handler-receiver.agent.ts'), instances: ['fast'] }]), workers: 2 });
console.table(await system.roster());
const r = await system.ask({ agent: 'flooder', capability: floodBurst }, { recipient: 'fast', count: 100, forMs: 500, whenFull: 'reject' }).catch((e) => e);
console.log(r);
console.log((await system.recentEvents()).slice(-8), await system.deadLetters());
await system.stop();
