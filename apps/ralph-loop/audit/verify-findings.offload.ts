import type { PooledAudit } from './audit-in-pool.ts';
import type { Finding } from './finding.ts';
import { MemoryRelief } from './memory-relief.ts';
import { ProgressCounter } from './progress-counter.ts';
import { verifyFindings } from './verify-findings.ts';

export default async ({
  root,
  findings,
  progress,
}: PooledAudit & { readonly findings: readonly Finding[] }) => {
  using memory = new MemoryRelief();
  return await verifyFindings(root, findings, { progress: new ProgressCounter(progress), memory });
};
