import { defineAgent } from 'orrery';
import { PLANETS } from 'orrery/planets';
import { audited } from '../audited.ts';
import { uiAccessibility } from '../capabilities.ts';
import { HANDLING_TIMEOUT_MS } from './handling-timeout.ts';

const JOB = new URL('../accessibility/accessibility-check.offload.ts', import.meta.url);

export const venus = defineAgent({
  ...PLANETS.venus,
  delivery: 'retry',
  handlingTimeoutMs: HANDLING_TIMEOUT_MS,
}).handle(uiAccessibility, audited(JOB, 'files'));
