import type { PooledAudit } from '../audit-in-pool.ts';
import { scanFiles } from '../file-scan.ts';
import { ProgressCounter } from '../progress-counter.ts';
import { RESILIENCE_CHECK } from './resilience-check.ts';

export default ({ root, progress }: PooledAudit) =>
  scanFiles(root, RESILIENCE_CHECK, new ProgressCounter(progress));
