import { startSystem } from 'orrery';
import { BenchClient } from './client.ts';
import { serverOrderOf } from './server-order.ts';

// A system of ours as `system.serve()` serves it, in a process of its own.

const FILLING = 64;
/** The other server forgets nothing. */
const MANY = 10_000_000;

const { kept, tasks, agent } = serverOrderOf(process.argv);

const system = await startSystem({
  agents: [{ module: new URL('../agents/adviser.agent.ts', import.meta.url), isolation: agent }],
  workers: 2,
  ...(kept === undefined ? {} : { journal: { path: kept } }),
});
const serving = await system.serve({
  entry: 'adviser',
  tasks: { limits: { tasks: MANY, tenantTasks: MANY } },
});
const url = `${serving.url}/rpc`;
await fill(tasks);
console.log(JSON.stringify({ url }));

/** As anybody would: by sending messages. */
async function fill(count: number): Promise<void> {
  if (count === 0) return;
  const client = new BenchClient(url);
  let left = count;
  const send = async (): Promise<void> => {
    while (left-- > 0) await client.send();
  };
  await Promise.all(Array.from({ length: FILLING }, send));
  await client.close();
}

process.stdin
  .on('end', () => {
    void system.stop().finally(() => process.exit(0));
  })
  .resume();
