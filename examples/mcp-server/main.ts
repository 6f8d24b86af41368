// A server that speaks MCP as a member of the team: when it dies, it is started again.
// Run: npm exec -- node --conditions=orrery-source examples/mcp-server/main.ts
import { fileURLToPath } from 'node:url';
import { isOrreryError, startSystem } from 'orrery';
import { mcpServer } from 'orrery/mcp';
import { toolsOf } from 'orrery/tools';

const server = fileURLToPath(new URL('./clock-server.ts', import.meta.url));
const clock = mcpServer({ id: 'clock', command: process.execPath, args: [server] });

await using system = await startSystem({ agents: [clock] });
const tools = toolsOf(system);
for (const { name } of tools.tools()) console.log(name);

const call = async (tool: string, input: object): Promise<unknown> => {
  try {
    return await tools.call(tool, input);
  } catch (error) {
    return isOrreryError(error) ? error.code : error;
  }
};
console.log(await call('clock.weekday', { date: '1610-01-07' }));
console.log(await call('clock.stop_the_clock', {}));
console.log(await call('clock.weekday', { date: '1846-09-23' }));
