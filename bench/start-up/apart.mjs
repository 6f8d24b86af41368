import { report } from './outcome.mjs';

const startedMs = performance.now();
const { startSystem } = await import('orrery');
const { echo } = await import('./echo.agent.mjs');
const module = new URL('./echo.agent.mjs', import.meta.url);
const system = await startSystem({ agents: [{ module, isolation: 'process' }] });
await system.ask(echo, 'hello');
const firstAnswerMs = performance.now() - startedMs;
await system.stop();
report({ firstAnswerMs });
