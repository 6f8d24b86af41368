import type { OrreryError } from 'orrery';
import { startSystem } from 'orrery';
import { commitFault, type FAULTS } from '../agents/faulty-capability.ts';
import { inspect } from '../capabilities.ts';
import { makeFinding } from '../envelope.ts';
import { inTwoWorkers } from '../orrery-team.ts';

/** The longest time that the neighbour took to answer, and how often it did, until the faulty agent was back. */
export interface NeighbourOutcome {
  readonly longestMs: number;
  readonly answers: number;
}

/** A handler that hangs is given this long. */
const HANGING_MS = 500;
const WARM_UPS = 200;

const fault = process.argv[2] as (typeof FAULTS)[number];
const module = (file: string): URL => new URL(`../agents/${file}`, import.meta.url);

await using system = await startSystem({
  agents: inTwoWorkers(
    [{ module: module('faulty.agent.ts') }],
    [{ module: module('handler-receiver.agent.ts'), instances: ['neighbour'] }],
  ),
  workers: 2,
});

const answer = (n: number) => system.ask({ agent: 'neighbour', capability: inspect }, makeFinding(n));
for (let n = 0; n < WARM_UPS; n++) await answer(n);

const limits = fault === 'hangs' ? { timeoutMs: HANGING_MS } : {};
const failed = system.ask({ agent: 'faulty', capability: commitFault }, { fault }, limits).then(
  () => {
    throw new Error('The faulty agent answers');
  },
  (error: OrreryError) => error.code,
);
let isBack = false;
const back = failed.then(untilBack).finally(() => {
  isBack = true;
});
const outcome = { longestMs: 0, answers: 0 };
while (!isBack) {
  const askedMs = performance.now();
  await answer(outcome.answers);
  outcome.longestMs = Math.max(outcome.longestMs, performance.now() - askedMs);
  outcome.answers += 1;
}
await back;
console.log(JSON.stringify(outcome satisfies NeighbourOutcome));

async function untilBack(): Promise<void> {
  for (;;) {
    const row = (await system.roster()).find(({ id }) => id === 'faulty');
    if (row?.status === 'running' && row.restarts === 1) return;
    if (row?.status === 'failed') throw new Error('The faulty agent is given up');
  }
}
