import { defineAgent } from 'orrery';
import { PLANETS } from 'orrery/planets';
import { audited } from '../audited.ts';
import { realtimeCheck } from '../capabilities.ts';
import { HANDLING_TIMEOUT_MS } from './handling-timeout.ts';

const JOB = new URL('../realtime/realtime-check.offload.ts', import.meta.url);

export const titan = defineAgent({
  ...PLANETS.titan,
  delivery: 'retry',
  handlingTimeoutMs: HANDLING_TIMEOUT_MS,
}).handle(realtimeCheck, audited(JOB, 'scripts'));
