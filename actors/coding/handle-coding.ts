import type { AgentDefinition } from '../../runtime/agent/agent-definition.ts';
import { OrreryError } from '../../runtime/protocol/errors.ts';
import type { HandlingContext } from '../../runtime/public.ts';
import { type AttemptRequest, changeAttempt, reviewAttempt } from './attempt-request.ts';
import { type CodeChangeResult, codeChange } from './code-change.ts';
import { codeReview } from './code-review.ts';
import { reviewVerdict } from './review-verdict.ts';

/** What a coding agent does. */
export type CodingWork = 'change' | 'review';

/** Starts a program, and resolves to what came of it. */
type RunAttempt = (
  request: AttemptRequest,
  ctx: HandlingContext<never>,
  signal: AbortSignal,
) => Promise<CodeChangeResult>;

/** Gives an agent the handlers for what it does. `source`: where what it says comes from. */
export function handleCoding(
  agent: AgentDefinition,
  {
    does,
    source,
    run,
  }: { readonly does: readonly CodingWork[]; readonly source: string; readonly run: RunAttempt },
): AgentDefinition {
  if (does.includes('change'))
    agent.handle(codeChange, (request, ctx) => {
      ctx.markOutside(source);
      return ctx.effect(`coding ${ctx.self}`, (signal) =>
        run(changeAttempt(request), ctx as HandlingContext<never>, signal),
      );
    });
  if (does.includes('review'))
    agent.handle(codeReview, async (request, ctx) => {
      ctx.markOutside(source);
      const { summary = '', usage } = await ctx.effect(`review ${ctx.self}`, (signal) =>
        run(reviewAttempt(request), ctx as HandlingContext<never>, signal),
      );
      const verdict = reviewVerdict(summary);
      if (verdict === undefined)
        throw new OrreryError('HANDLER_FAILED', `${ctx.self} has come to no verdict`, {
          details: { said: summary },
        });
      return { ...verdict, usage };
    });
  return agent;
}
