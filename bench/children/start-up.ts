import { makeFinding } from '../envelope.ts';

export interface StartUpTimes {
  readonly importMs: number;
  readonly startMs: number;
  readonly firstAnswerMs: number;
  readonly stopMs: number;
  readonly exitMs: number;
}

const RECEIVER = new URL('../agents/handler-receiver.agent.ts', import.meta.url);

const beforeImport = performance.now();
const { startSystem } = await import('orrery');
const importMs = performance.now() - beforeImport;
const { inspect } = await import('../capabilities.ts');

const beforeStart = performance.now();
const system = await startSystem({
  agents: [
    { module: RECEIVER, instances: ['receiver-1'] },
    { module: RECEIVER, instances: ['receiver-2'] },
  ],
  workers: 2,
});
const startMs = performance.now() - beforeStart;
await system.ask({ agent: 'receiver-2', capability: inspect }, makeFinding(1));
const firstAnswerMs = performance.now() - beforeStart;

const beforeStop = performance.now();
await system.stop();
const stopMs = performance.now() - beforeStop;
console.log(JSON.stringify({ importMs, startMs, firstAnswerMs, stopMs, stoppedAtMs: Date.now() }));
