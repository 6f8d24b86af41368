import type { PooledAudit } from '../audit-in-pool.ts';
import { ProgressCounter } from '../progress-counter.ts';
import { auditPerformance } from './audit-performance.ts';

export default ({ root, progress }: PooledAudit) => auditPerformance(root, new ProgressCounter(progress));
