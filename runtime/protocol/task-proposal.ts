import { z } from 'zod';

/**
 * The payload of a `task-proposal`, with the fields that its answers add (seed 1).
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

/** The capability of a proposal that requires none. */
const ANYTHING: readonly string[] = ['task-proposal'];
const NOTHING: readonly string[] = [];
/** The most capabilities of a proposal that are judged. */
const MAX_CAPABILITIES = 64;

/** The capabilities that a proposal requires; none if the envelope is no proposal. Never throws. */
export function proposedIn(type: string, payload: unknown): readonly string[] {
  if (type !== 'task-proposal') return NOTHING;
  const { requiredCapabilities } = (payload ?? {}) as { requiredCapabilities?: unknown };
  if (!Array.isArray(requiredCapabilities) || requiredCapabilities.length === 0) return ANYTHING;
  const named = requiredCapabilities.filter((one) => typeof one === 'string');
  return [...new Set(named)].slice(0, MAX_CAPABILITIES);
}
