import type { PooledAudit } from '../audit-in-pool.ts';
import { scanFiles } from '../file-scan.ts';
import { ProgressCounter } from '../progress-counter.ts';
import { RESPONSIVE_CHECK } from './responsive-check.ts';

export default ({ root, progress }: PooledAudit) =>
  scanFiles(root, RESPONSIVE_CHECK, new ProgressCounter(progress));
