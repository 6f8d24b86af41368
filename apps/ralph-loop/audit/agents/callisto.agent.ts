import { defineAgent } from 'orrery';
import { PLANETS } from 'orrery/planets';
import { audited } from '../audited.ts';
import { docsCheck } from '../capabilities.ts';
import { HANDLING_TIMEOUT_MS } from './handling-timeout.ts';

const JOB = new URL('../docs/docs-check.offload.ts', import.meta.url);

export const callisto = defineAgent({
  ...PLANETS.callisto,
  delivery: 'retry',
  handlingTimeoutMs: HANDLING_TIMEOUT_MS,
}).handle(docsCheck, audited(JOB, 'documents'));
