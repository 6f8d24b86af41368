import type { PooledAudit } from '../audit-in-pool.ts';
import { scanFiles } from '../file-scan.ts';
import { ProgressCounter } from '../progress-counter.ts';
import { REALTIME_CHECK } from './realtime-check.ts';

export default ({ root, progress }: PooledAudit) =>
  scanFiles(root, REALTIME_CHECK, new ProgressCounter(progress));
