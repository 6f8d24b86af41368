import { defineAgent } from 'orrery';
import { PLANETS } from 'orrery/planets';
import { audited } from '../audited.ts';
import { integrationsCheck } from '../capabilities.ts';
import { HANDLING_TIMEOUT_MS } from './handling-timeout.ts';

const JOB = new URL('../integrations/integrations-check.offload.ts', import.meta.url);

export const ganymede = defineAgent({
  ...PLANETS.ganymede,
  delivery: 'retry',
  handlingTimeoutMs: HANDLING_TIMEOUT_MS,
}).handle(integrationsCheck, audited(JOB, 'scripts'));
