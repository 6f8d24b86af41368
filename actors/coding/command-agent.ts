import { AgentDefinition } from '../../runtime/agent/agent-definition.ts';
import { systemClock } from '../../runtime/protocol/system-seams.ts';
import { stopMs } from './coding-agent-options.ts';
import { type CommandAgentOptions, readOptions } from './command-agent-options.ts';
import { CommandAttempt } from './command-attempt.ts';
import { handleCoding } from './handle-coding.ts';

/**
 * A coding agent that is a program: for each task, or review of one, it starts it in the worktree, tells it that, reports what it does, and
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
  agent.cutOffGraceMs = stopMs(settings.graceMs);
  return handleCoding(agent, {
    does: settings.does,
    source: `agent:${settings.backend.id}`,
    run: (request, ctx, signal) =>
      new CommandAttempt(request, settings, { ctx, clock: systemClock, env: process.env }).run(signal),
  });
}
