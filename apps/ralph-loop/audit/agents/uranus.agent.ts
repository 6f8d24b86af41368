import { defineAgent } from 'orrery';
import { PLANETS } from 'orrery/planets';
import { audited } from '../audited.ts';
import { dependenciesCheck } from '../capabilities.ts';
import { HANDLING_TIMEOUT_MS } from './handling-timeout.ts';

const JOB = new URL('../dependencies/dependencies-check.offload.ts', import.meta.url);

export const uranus = defineAgent({
  ...PLANETS.uranus,
  delivery: 'retry',
  handlingTimeoutMs: HANDLING_TIMEOUT_MS,
}).handle(dependenciesCheck, audited(JOB, 'files'));
