import { defineAgent } from 'orrery';
import { PLANETS } from 'orrery/planets';
import { audited } from '../audited.ts';
import { historyBrief } from '../capabilities.ts';
import { HANDLING_TIMEOUT_MS } from './handling-timeout.ts';

const JOB = new URL('../history/history-brief.offload.ts', import.meta.url);

export const atlas = defineAgent({
  ...PLANETS.atlas,
  delivery: 'retry',
  handlingTimeoutMs: HANDLING_TIMEOUT_MS,
}).handle(historyBrief, audited(JOB, 'commits'));
