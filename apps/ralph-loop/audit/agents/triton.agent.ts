import { defineAgent } from 'orrery';
import { PLANETS } from 'orrery/planets';
import { audited } from '../audited.ts';
import { releaseCheck } from '../capabilities.ts';
import { HANDLING_TIMEOUT_MS } from './handling-timeout.ts';

const JOB = new URL('../release/release-check.offload.ts', import.meta.url);

export const triton = defineAgent({
  ...PLANETS.triton,
  delivery: 'retry',
  handlingTimeoutMs: HANDLING_TIMEOUT_MS,
}).handle(releaseCheck, audited(JOB, 'files'));
