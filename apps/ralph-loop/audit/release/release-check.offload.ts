import type { PooledAudit } from '../audit-in-pool.ts';
import { scanFiles } from '../file-scan.ts';
import { ProgressCounter } from '../progress-counter.ts';
import { RELEASE_CHECK } from './release-check.ts';

export default ({ root, progress }: PooledAudit) =>
  scanFiles(root, RELEASE_CHECK, new ProgressCounter(progress));
