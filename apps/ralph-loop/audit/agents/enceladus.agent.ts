import { defineAgent } from 'orrery';
import { PLANETS } from 'orrery/planets';
import { audited } from '../audited.ts';
import { securityScan } from '../capabilities.ts';
import { HANDLING_TIMEOUT_MS } from './handling-timeout.ts';

const JOB = new URL('../security-scan.offload.ts', import.meta.url);

export const enceladus = defineAgent({
  ...PLANETS.enceladus,
  delivery: 'retry',
  handlingTimeoutMs: HANDLING_TIMEOUT_MS,
}).handle(securityScan, audited(JOB, 'files'));
