import { z } from 'zod';
import { Finding, RefusedFinding } from './finding.ts';

/**
 * The gate's answer.
 *
 * - `verdict`   `REJECTED` if no finding holds, `NEEDS REVISION` if some hold.
 * - `feedback`  what to change; empty if approved.
 */
export const Verification = z.object({
  verdict: z.enum(['APPROVED', 'NEEDS REVISION', 'REJECTED']),
  approved: z.array(Finding),
  rejected: z.array(RefusedFinding),
  feedback: z.string(),
});
export type Verification = z.infer<typeof Verification>;
