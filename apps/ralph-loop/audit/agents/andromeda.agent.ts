import { defineAgent } from 'orrery';
import { PLANETS } from 'orrery/planets';
import { audited } from '../audited.ts';
import { ideasCollect } from '../capabilities.ts';
import { HANDLING_TIMEOUT_MS } from './handling-timeout.ts';

const JOB = new URL('../ideas/ideas-check.offload.ts', import.meta.url);

export const andromeda = defineAgent({
  ...PLANETS.andromeda,
  delivery: 'retry',
  handlingTimeoutMs: HANDLING_TIMEOUT_MS,
}).handle(ideasCollect, audited(JOB, 'files'));
