import type { HandlingContext } from 'orrery';
import { auditInPool } from './audit-in-pool.ts';
import type { AuditReport } from '../findings/finding.ts';
import { type RevisedRequest, revised } from './revise.ts';

/** The handler of an agent that audits: runs `job` in the CPU pool, counting in `unit`, and stands up for the result. */
export const audited =
  <Request extends RevisedRequest>(job: URL, unit: string) =>
  async ({ feedback, ...request }: Request, ctx: HandlingContext): Promise<AuditReport> => {
    const report = await auditInPool<AuditReport>(ctx, job, { ...request, unit });
    return revised(report, { root: request.root, feedback }, ctx);
  };
