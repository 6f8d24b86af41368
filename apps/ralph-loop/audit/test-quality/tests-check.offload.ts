import type { PooledAudit } from '../audit-in-pool.ts';
import { scanFiles } from '../file-scan.ts';
import { ProgressCounter } from '../progress-counter.ts';
import { TESTS_CHECK } from './tests-check.ts';

export default ({ root, progress }: PooledAudit) =>
  scanFiles(root, TESTS_CHECK, new ProgressCounter(progress));
