import { report } from './outcome.mjs';

const startedMs = performance.now();
const { startSystem } = await import('orrery');
const { echo, echoer } = await import('./echo.agent.mjs');
const system = await startSystem({ agents: [echoer] });
await system.ask(echo, 'hello');
const firstAnswerMs = performance.now() - startedMs;
await system.stop();
report({ firstAnswerMs });
