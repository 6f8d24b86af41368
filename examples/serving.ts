// A team behind one port: asked over A2A and over MCP, by callers who have a key.
// Run: npm exec -- node --conditions=orrery-source examples/serving.ts
import { capability, defineAgent, isOrreryError, startSystem, systemSeams } from 'orrery';
import { apiKeys, newApiKey } from 'orrery/admission';
import { mcpServer } from 'orrery/mcp';
import { RemoteAgentClient } from 'orrery/remote';
import { toolsOf } from 'orrery/tools';
import { z } from 'zod';

const shout = capability({
  id: 'text.shout',
  description: 'Says it loudly',
  input: z.object({ text: z.string() }),
  output: z.string(),
});
const venus = defineAgent({
  id: 'venus',
  name: 'VENUS',
  version: '1.0.0',
  description: 'Speaks',
  tier: 2,
}).handle(shout, ({ text }) => `${text.toUpperCase()}!`);

const { key, record } = newApiKey({ kind: 'service', tenant: 'acme' });
await using system = await startSystem({ agents: [venus] });
await using serving = await system.serve({ port: 0, authenticators: [apiKeys([record], systemSeams())] });

// Over A2A, by the client that comes with the package. Any other does as well.
using client = new RemoteAgentClient(`${serving.url}/venus`, { credentials: { apiKey: key } });
const answer = await client.send({ parts: [{ text: 'hello' }] });
if (answer.kind === 'task') console.log('A2A:', answer.task.status.state, answer.task.artifacts[0]?.parts);

// Over MCP: another team, which has this one as a member.
const far = mcpServer({ id: 'far', url: `${serving.url}/mcp`, headers: { 'x-api-key': key } });
await using other = await startSystem({ agents: [far] });
console.log('MCP:', await toolsOf(other).call('far.venus.text.shout', { text: 'hello' }));

// Without a key nobody comes in.
using stranger = new RemoteAgentClient(`${serving.url}/venus`);
const failure = await stranger.send({ parts: [{ text: 'hello' }] }).catch((error: unknown) => error);
if (isOrreryError(failure)) console.log('no key:', failure.code);
