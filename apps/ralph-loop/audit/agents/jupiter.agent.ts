import { defineAgent } from 'orrery';
import { PLANETS } from 'orrery/planets';
import { auditInPool } from '../audit-in-pool.ts';
import { architectureCycles } from '../capabilities.ts';
import { HANDLING_TIMEOUT_MS } from './handling-timeout.ts';

const JOB = new URL('../architecture.offload.ts', import.meta.url);

export const jupiter = defineAgent({
  ...PLANETS.jupiter,
  delivery: 'retry',
  handlingTimeoutMs: HANDLING_TIMEOUT_MS,
}).handle(architectureCycles, ({ root, layers = [] }, ctx) =>
  auditInPool(ctx, JOB, { root, layers, unit: 'scripts' }),
);
