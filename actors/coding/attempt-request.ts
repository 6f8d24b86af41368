import type { Clock } from '../../runtime/protocol/seams.ts';
import type { HandlingContext } from '../../runtime/public.ts';
import type { CodeChangeRequest, CodingPermission } from './code-change.ts';
import type { CodeReviewRequest } from './code-review.ts';
import { codingPrompt } from './coding-prompt.ts';
import { reviewPrompt } from './review-prompt.ts';

/** What a program is started for. - `prompt` what it is told, with the permission that it has. */
export interface AttemptRequest
  extends Pick<CodeChangeRequest, 'root' | 'limits' | 'permission' | 'session'> {
  readonly prompt: (permission: CodingPermission) => string;
}

/** What an attempt needs. - `env` of this process, from which the program gets its own. */
export interface AttemptDeps {
  readonly ctx: HandlingContext<never>;
  readonly clock: Clock;
  readonly env: Readonly<Record<string, string | undefined>>;
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
