import { startSystem } from 'orrery';

/** A process with a system of idle agents, after a collection. */
export interface IdleMemory {
  readonly heapBytes: number;
  readonly processBytes: number;
  readonly startMs: number;
}

const [, , kind, count] = process.argv;
const file = kind === 'machine' ? 'machine-receiver.agent.ts' : 'idle.agent.ts';
const module = new URL(`../agents/${file}`, import.meta.url);
const lazy = kind === 'lazy' || kind === 'gone';
const instances = Array.from({ length: Number(count) }, (_, index) => `idle-${index}`);

/** How often agents that are gone at last have come and gone. */
const ROUNDS_GONE = 3;

const beforeMs = performance.now();
await using system = await startSystem({ agents: [{ module, instances, isolation: 'inline', lazy }] });
const startMs = performance.now() - beforeMs;
if (kind === 'gone') for (let round = 0; round < ROUNDS_GONE; round += 1) await comeAndGo();
await system.recentEvents();
globalThis.gc?.();
globalThis.gc?.();
const { heapUsed, rss } = process.memoryUsage();
const memory: IdleMemory = { heapBytes: heapUsed, processBytes: rss, startMs };
console.log(JSON.stringify(memory));

/** Ends the registration of every agent, and starts them again but for one: what is left of those that went is seen. */
async function comeAndGo(): Promise<void> {
  for (const id of instances.slice(1)) system.registry.unregister(id);
  while ((await system.roster()).length > 1) await system.conservation();
  await system.start([{ module, instances: instances.slice(1), isolation: 'inline', lazy }]);
}
