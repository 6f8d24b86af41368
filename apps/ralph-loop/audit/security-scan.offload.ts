import type { PooledAudit } from './audit-in-pool.ts';
import { ProgressCounter } from './progress-counter.ts';
import { scanSecurity } from './security-scan.ts';

export default ({ root, progress }: PooledAudit) => scanSecurity(root, new ProgressCounter(progress));
