import type { PooledAudit } from '../audit-in-pool.ts';
import { ProgressCounter } from '../progress-counter.ts';
import { auditDocs } from './audit-docs.ts';

export default ({ root, progress }: PooledAudit) => auditDocs(root, new ProgressCounter(progress));
