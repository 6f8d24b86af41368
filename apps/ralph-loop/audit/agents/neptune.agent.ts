import { defineAgent } from 'orrery';
import { PLANETS } from 'orrery/planets';
import { audited } from '../audited.ts';
import { metricsCheck } from '../capabilities.ts';
import { HANDLING_TIMEOUT_MS } from './handling-timeout.ts';

const JOB = new URL('../metrics/metrics-check.offload.ts', import.meta.url);

export const neptune = defineAgent({
  ...PLANETS.neptune,
  delivery: 'retry',
  handlingTimeoutMs: HANDLING_TIMEOUT_MS,
}).handle(metricsCheck, audited(JOB, 'files'));
