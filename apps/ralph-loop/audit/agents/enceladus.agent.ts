import { defineAgent } from 'orrery';
import { PLANETS } from 'orrery/planets';
import { auditInPool } from '../audit-in-pool.ts';
import { securityScan } from '../capabilities.ts';
import { HANDLING_TIMEOUT_MS } from './handling-timeout.ts';

const JOB = new URL('../security-scan.offload.ts', import.meta.url);

export const enceladus = defineAgent({
  ...PLANETS.enceladus,
  delivery: 'retry',
  handlingTimeoutMs: HANDLING_TIMEOUT_MS,
}).handle(securityScan, ({ root }, ctx) => auditInPool(ctx, JOB, { root, unit: 'files' }));
