import { startSystem } from 'orrery';
import { adder } from './adder.ts';
import { orderIn } from './server-order.ts';

// A system of ours as `system.serve()` serves it, in a process of its own.

const { tools, agent } = orderIn(process.argv);
const module = new URL(`../agents/adder-${tools}.agent.ts`, import.meta.url);

const system = await startSystem({ agents: [agent === 'inline' ? adder(tools) : { module }], workers: 1 });
const serving = await system.serve();
console.log(JSON.stringify({ url: `${serving.url}/mcp` }));

process.stdin
  .on('end', () => {
    void system.stop().finally(() => process.exit(0));
  })
  .resume();
