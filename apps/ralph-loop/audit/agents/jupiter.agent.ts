import { defineAgent } from 'orrery';
import { PLANETS } from 'orrery/planets';
import { audited } from '../audited.ts';
import { architectureCycles } from '../capabilities.ts';
import { HANDLING_TIMEOUT_MS } from './handling-timeout.ts';

const JOB = new URL('../architecture.offload.ts', import.meta.url);

export const jupiter = defineAgent({
  ...PLANETS.jupiter,
  delivery: 'retry',
  handlingTimeoutMs: HANDLING_TIMEOUT_MS,
}).handle(architectureCycles, audited(JOB, 'scripts'));
