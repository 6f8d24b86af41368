import type { PooledAudit } from '../audit-in-pool.ts';
import { scanFiles } from '../file-scan.ts';
import { ProgressCounter } from '../progress-counter.ts';
import { INTEGRATIONS_CHECK } from './integrations-check.ts';

export default ({ root, progress }: PooledAudit) =>
  scanFiles(root, INTEGRATIONS_CHECK, new ProgressCounter(progress));
