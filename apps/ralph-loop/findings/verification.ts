import { z } from 'zod';
import { Finding, RefusedFinding } from './finding.ts';

/**
 * What the gate says of findings.
 *
 * - `verdict`   `REJECTED` when nothing of the result holds, `NEEDS REVISION` when some of it does.
 * - `feedback`  what to do about it; empty when approved.
 */
export const Verification = z.object({
  verdict: z.enum(['APPROVED', 'NEEDS REVISION', 'REJECTED']),
  approved: z.array(Finding),
  rejected: z.array(RefusedFinding),
  feedback: z.string(),
});
export type Verification = z.infer<typeof Verification>;
