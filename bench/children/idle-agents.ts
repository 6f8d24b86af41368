import { startSystem } from 'orrery';

/** A process with a system of idle agents, after a collection. */
export interface IdleMemory {
  readonly heapBytes: number;
  readonly processBytes: number;
  readonly startMs: number;
}

const IDLE = new URL('../agents/idle.agent.ts', import.meta.url);
const lazy = process.argv[2] === 'lazy';
const instances = Array.from({ length: Number(process.argv[3]) }, (_, index) => `idle-${index}`);

const beforeMs = performance.now();
await using system = await startSystem({ agents: [{ module: IDLE, instances, isolation: 'inline', lazy }] });
const startMs = performance.now() - beforeMs;
await system.recentEvents();
globalThis.gc?.();
globalThis.gc?.();
const { heapUsed, rss } = process.memoryUsage();
const memory: IdleMemory = { heapBytes: heapUsed, processBytes: rss, startMs };
console.log(JSON.stringify(memory));
