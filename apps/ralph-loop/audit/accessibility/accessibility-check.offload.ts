import type { PooledAudit } from '../audit-in-pool.ts';
import { scanFiles } from '../file-scan.ts';
import { ProgressCounter } from '../progress-counter.ts';
import { ACCESSIBILITY_CHECK } from './accessibility-check.ts';

export default ({ root, progress }: PooledAudit) =>
  scanFiles(root, ACCESSIBILITY_CHECK, new ProgressCounter(progress));
