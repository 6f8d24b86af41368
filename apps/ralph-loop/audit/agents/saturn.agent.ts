import { defineAgent } from 'orrery';
import { PLANETS } from 'orrery/planets';
import { audited } from '../audited.ts';
import { testsCheck } from '../capabilities.ts';
import { HANDLING_TIMEOUT_MS } from './handling-timeout.ts';

const JOB = new URL('../test-quality/tests-check.offload.ts', import.meta.url);

export const saturn = defineAgent({
  ...PLANETS.saturn,
  delivery: 'retry',
  handlingTimeoutMs: HANDLING_TIMEOUT_MS,
}).handle(testsCheck, audited(JOB, 'scripts'));
