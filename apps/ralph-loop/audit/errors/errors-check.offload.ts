import type { PooledAudit } from '../audit-in-pool.ts';
import { scanFiles } from '../file-scan.ts';
import { ProgressCounter } from '../progress-counter.ts';
import { ERRORS_CHECK } from './errors-check.ts';

export default ({ root, progress }: PooledAudit) =>
  scanFiles(root, ERRORS_CHECK, new ProgressCounter(progress));
