import type { PooledAudit } from '../audit-in-pool.ts';
import { ProgressCounter } from '../progress-counter.ts';
import { checkDependencies } from './dependencies-check.ts';

export default ({ root, progress }: PooledAudit) => checkDependencies(root, new ProgressCounter(progress));
