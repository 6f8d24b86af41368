import { defineAgent } from 'orrery';
import { PLANETS } from 'orrery/planets';
import { audited } from '../audited.ts';
import { resilienceCheck } from '../capabilities.ts';
import { HANDLING_TIMEOUT_MS } from './handling-timeout.ts';

const JOB = new URL('../resilience/resilience-check.offload.ts', import.meta.url);

export const mimas = defineAgent({
  ...PLANETS.mimas,
  delivery: 'retry',
  handlingTimeoutMs: HANDLING_TIMEOUT_MS,
}).handle(resilienceCheck, audited(JOB, 'scripts'));
