import { defineAgent } from 'orrery';
import { PLANETS } from 'orrery/planets';
import { audited } from '../audited.ts';
import { schemaCheck } from '../capabilities.ts';
import { HANDLING_TIMEOUT_MS } from './handling-timeout.ts';

const JOB = new URL('../schemas/schema-check.offload.ts', import.meta.url);

export const pluto = defineAgent({
  ...PLANETS.pluto,
  delivery: 'retry',
  handlingTimeoutMs: HANDLING_TIMEOUT_MS,
}).handle(schemaCheck, audited(JOB, 'files'));
