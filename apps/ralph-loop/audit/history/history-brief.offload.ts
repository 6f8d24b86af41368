import type { PooledAudit } from '../audit-in-pool.ts';
import { ProgressCounter } from '../progress-counter.ts';
import { briefHistory } from './history-brief.ts';

export default ({ root, progress }: PooledAudit) => briefHistory(root, new ProgressCounter(progress));
