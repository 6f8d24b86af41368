import { defineAgent } from 'orrery';
import { PLANETS } from 'orrery/planets';
import { audited } from '../audited.ts';
import { errorsCheck } from '../capabilities.ts';
import { HANDLING_TIMEOUT_MS } from './handling-timeout.ts';

const JOB = new URL('../errors/errors-check.offload.ts', import.meta.url);

export const charon = defineAgent({
  ...PLANETS.charon,
  delivery: 'retry',
  handlingTimeoutMs: HANDLING_TIMEOUT_MS,
}).handle(errorsCheck, audited(JOB, 'scripts'));
