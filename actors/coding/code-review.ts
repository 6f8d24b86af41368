import { z } from 'zod';
import { capability } from '../../runtime/protocol/capability.ts';
import { CodeChangeRequest } from './code-change.ts';
import { CodingUsage } from './coding-event.ts';

/**
 * A change for a coding agent to review. Its gates have passed.
 *
 * - `root`    absolute path of a worktree with the change, which it may read.
 * - `attempt` from 1.
 * - `diff`    the change as text; what is over its length is left away.
 */
export const CodeReviewRequest = CodeChangeRequest.pick({
  root: true,
  task: true,
  attempt: true,
  limits: true,
})
  .extend({ diff: z.string() })
  .strict();
export type CodeReviewRequest = z.infer<typeof CodeReviewRequest>;

/** - `isVetoed` the change is not to be merged. - `reason` in its words. */
export const CodeReviewResult = z.strictObject({
  isVetoed: z.boolean(),
  reason: z.string(),
  usage: CodingUsage.default({}),
});
export type CodeReviewResult = z.infer<typeof CodeReviewResult>;

/** The capability of coding agents that review: say why a change whose gates have passed is not to be merged. */
export const codeReview = capability({
  id: 'code.review',
  description: 'Say why a change of a repository is not to be merged, if there is a reason',
  input: CodeReviewRequest,
  output: CodeReviewResult,
});
