import type { PooledAudit } from './audit-in-pool.ts';
import { ProgressCounter } from './progress-counter.ts';
import { checkTypes } from './types-check.ts';

export default ({ root, progress }: PooledAudit) => checkTypes(root, new ProgressCounter(progress));
