import type { PooledAudit } from '../audit-in-pool.ts';
import { ProgressCounter } from '../progress-counter.ts';
import { checkSpecs } from './specs-check.ts';

export default ({ root, progress }: PooledAudit) => checkSpecs(root, new ProgressCounter(progress));
