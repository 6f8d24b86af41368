import type { PooledAudit } from '../audit-in-pool.ts';
import { ProgressCounter } from '../progress-counter.ts';
import { checkMetrics } from './metrics-check.ts';

export default ({ root, progress }: PooledAudit) => checkMetrics(root, new ProgressCounter(progress));
