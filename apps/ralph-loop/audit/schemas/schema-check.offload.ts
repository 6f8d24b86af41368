import type { PooledAudit } from '../audit-in-pool.ts';
import { ProgressCounter } from '../progress-counter.ts';
import { checkSchemas } from './schema-check.ts';

export default ({ root, progress }: PooledAudit) => checkSchemas(root, new ProgressCounter(progress));
