import { auditArchitecture } from './architecture.ts';
import type { PooledAudit } from './audit-in-pool.ts';
import type { Layer } from './layers.ts';
import { ProgressCounter } from './progress-counter.ts';

export default ({ root, layers = [], progress }: PooledAudit & { readonly layers?: readonly Layer[] }) =>
  auditArchitecture(root, { layers, progress: new ProgressCounter(progress) });
