import { startSystem } from 'orrery';
import { report, rssMb } from './outcome.mjs';

const system = await startSystem({ agents: [] });
const rss = rssMb();
await system.stop();
report({ rssMb: rss });
