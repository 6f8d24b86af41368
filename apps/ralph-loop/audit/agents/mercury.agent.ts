import { defineAgent } from 'orrery';
import { PLANETS } from 'orrery/planets';
import { auditInPool } from '../audit-in-pool.ts';
import { findingsVerify, type Verification } from '../capabilities.ts';
import { HANDLING_TIMEOUT_MS } from './handling-timeout.ts';

const JOB = new URL('../verify-findings.offload.ts', import.meta.url);

const NOTHING_TO_JUDGE: Verification = { verdict: 'APPROVED', approved: [], rejected: [], feedback: '' };

export const mercury = defineAgent({
  ...PLANETS.mercury,
  delivery: 'retry',
  handlingTimeoutMs: HANDLING_TIMEOUT_MS,
}).handle(findingsVerify, ({ root, findings }, ctx) =>
  findings.length === 0 ? NOTHING_TO_JUDGE : auditInPool(ctx, JOB, { root, findings, unit: 'findings' }),
);
