import { capability, defineAgent } from 'orrery';
import { simulate } from 'orrery/simulate';
import { z } from 'zod';

/** One simulation: how long it took in reality, and what was in it. */
export interface SimulateCost {
  readonly ms: number;
  readonly envelopes: number;
  readonly steps: number;
  readonly violations: number;
}

const AGENTS = 21;
const CHAINS = 1_250;
const HOPS = 7;

const pass = capability({
  id: 'bench.pass',
  description: 'Passes on',
  input: z.object({ left: z.int() }),
  output: z.null(),
});
const ids = Array.from({ length: AGENTS }, (_, at) => `planet-${at}`);

/** Each passes what it gets on to another one, chosen at random, until it has been passed on often enough. */
const agents = ids.map((id, at) =>
  defineAgent({ id, name: id, version: '1.0.0', description: 'Passes on', tier: 2 }).handle(
    pass,
    ({ left }, ctx) => {
      const other = (at + 1 + Math.floor(ctx.random() * (AGENTS - 1))) % AGENTS;
      if (left > 0) ctx.tell({ agent: ids[other] as string, capability: pass }, { left: left - 1 });
      return null;
    },
  ),
);

const runs = Number(process.argv[2] ?? 1);
const costs: SimulateCost[] = [];
for (let seed = 1; seed <= runs; seed++) {
  const startMs = performance.now();
  const { stats, violations } = await simulate({
    agents,
    seed,
    run: (team) => {
      for (let chain = 0; chain < CHAINS; chain++)
        team.tell({ agent: ids[chain % AGENTS] as string, capability: pass }, { left: HOPS });
    },
  });
  const ms = performance.now() - startMs;
  costs.push({ ms, envelopes: stats.handled, steps: stats.steps, violations: violations.length });
}
console.log(JSON.stringify(costs));
