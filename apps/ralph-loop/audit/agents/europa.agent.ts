import { defineAgent } from 'orrery';
import { PLANETS } from 'orrery/planets';
import { audited } from '../audited.ts';
import { responsiveCheck } from '../capabilities.ts';
import { HANDLING_TIMEOUT_MS } from './handling-timeout.ts';

const JOB = new URL('../responsive/responsive-check.offload.ts', import.meta.url);

export const europa = defineAgent({
  ...PLANETS.europa,
  delivery: 'retry',
  handlingTimeoutMs: HANDLING_TIMEOUT_MS,
}).handle(responsiveCheck, audited(JOB, 'files'));
