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
const lazy = kind === 'lazy';
const instances = Array.from({ length: Number(count) }, (_, index) => `idle-${index}`);

const beforeMs = performance.now();
await using system = await startSystem({ agents: [{ module, instances, isolation: 'inline', lazy }] });
const startMs = performance.now() - beforeMs;
await system.recentEvents();
globalThis.gc?.();
globalThis.gc?.();
const { heapUsed, rss } = process.memoryUsage();
const memory: IdleMemory = { heapBytes: heapUsed, processBytes: rss, startMs };
console.log(JSON.stringify(memory));
