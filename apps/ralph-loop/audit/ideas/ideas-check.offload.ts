import type { PooledAudit } from '../audit-in-pool.ts';
import { ProgressCounter } from '../progress-counter.ts';
import { collectIdeas } from './collect-ideas.ts';

export default ({ root, progress }: PooledAudit) => collectIdeas(root, new ProgressCounter(progress));
