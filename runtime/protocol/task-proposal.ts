import { z } from 'zod';

/**
 * What a `task-proposal` carries, and what its answers add (seed 1).
 *
 * - `deadlineMs`              how long the proposer waits for an answer, from when it arrives.
 * - `estimatedCompletionMs`   of an acceptance.
 * - `rejectionReason`, `alternativeSuggestion` of a rejection: a reason code, and another agent.
 * - `escalationJustification` why tier 2 or 3 proposes to tier 0 or 1.
 */
export const TaskProposalPayload = z.object({
  taskDescription: z.string(),
  requiredCapabilities: z.array(z.string()),
  estimatedComplexity: z.enum(['simple', 'medium', 'complex']),
  deadlineMs: z.number().positive(),
  estimatedCompletionMs: z.number().positive().optional(),
  rejectionReason: z.string().optional(),
  alternativeSuggestion: z.string().optional(),
  escalationJustification: z.string().optional(),
});
export type TaskProposalPayload = z.infer<typeof TaskProposalPayload>;
