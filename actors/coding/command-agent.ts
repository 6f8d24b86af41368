import { AgentDefinition } from '../../runtime/agent/agent-definition.ts';
import { systemClock } from '../../runtime/protocol/system-seams.ts';
import type { HandlingContext } from '../../runtime/public.ts';
import { codeChange } from './code-change.ts';
import { type CommandAgentOptions, readOptions, STOP_MARGIN_MS } from './command-agent-options.ts';
import { CommandAttempt } from './command-attempt.ts';

/**
 * A coding agent that is a program: for each task it starts it in the worktree, tells it the task, reports what it does, and
 * answers when it and whatever it started are gone. What the program says decides nothing.
 *
 * It runs in a thread or inline. In a simulation the effect `coding AGENT` answers in its place. Throws INVALID_OPTIONS naming
 * field and value. An attempt fails with REFUSED, RATE_LIMITED (`retryAfterMs`), HANDLER_FAILED, BUDGET_EXCEEDED,
 * DEADLINE_EXCEEDED or CANCELLED.
 */
export function commandAgent(options: CommandAgentOptions): AgentDefinition {
  const { identity, settings } = readOptions(options);
  const agent = new AgentDefinition(identity);
  // It keeps nothing between two attempts.
  agent.keepsTaintApart = true;
  agent.cutOffGraceMs = settings.graceMs + STOP_MARGIN_MS;
  return agent.handle(codeChange, (request, ctx) => {
    ctx.markOutside(`agent:${settings.backend.id}`);
    return ctx.effect(`coding ${ctx.self}`, (signal) => {
      const deps = { ctx: ctx as HandlingContext<never>, clock: systemClock, env: process.env };
      return new CommandAttempt(request, settings, deps).run(signal);
    });
  });
}
