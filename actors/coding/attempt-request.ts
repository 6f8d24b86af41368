import type { CodeChangeRequest, CodingPermission } from './code-change.ts';
import type { CodeReviewRequest } from './code-review.ts';
import { codingPrompt } from './coding-prompt.ts';
import { reviewPrompt } from './review-prompt.ts';

/** What a program is started for. - `prompt` what it is told, with the permission that it has. */
export interface AttemptRequest
  extends Pick<CodeChangeRequest, 'root' | 'limits' | 'permission' | 'session'> {
  readonly prompt: (permission: CodingPermission) => string;
}

export const changeAttempt = (request: CodeChangeRequest): AttemptRequest => ({
  ...request,
  prompt: (permission) => codingPrompt({ ...request, permission }),
});

export const reviewAttempt = (request: CodeReviewRequest): AttemptRequest => ({
  root: request.root,
  limits: request.limits,
  permission: 'read',
  prompt: () => reviewPrompt(request),
});
