import { capability } from 'orrery';
import { z } from 'zod';
import { Finding } from '../audit/finding.ts';

export const findingsVerify = capability({
  id: 'findings.verify',
  description: 'Judge findings against the files',
  input: z.object({ root: z.string(), findings: z.array(Finding), task: z.unknown() }),
  output: z.object({
    verdict: z.enum(['APPROVED', 'NEEDS REVISION', 'REJECTED']),
    approved: z.array(Finding),
    rejected: z.array(z.object({ finding: Finding, reason: z.string() })),
    feedback: z.string(),
  }),
});
export const missionAssign = capability({
  id: 'mission.assign',
  description: 'Say who gets which task',
  input: z.object({ tasks: z.array(z.unknown()), roster: z.array(z.unknown()) }),
  output: z.object({
    assignments: z.array(z.object({ taskId: z.string(), agent: z.string() })),
    unassignable: z.array(z.object({ taskId: z.string(), reason: z.string() })),
  }),
});
