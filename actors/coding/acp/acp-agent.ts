import { AgentDefinition } from '../../../runtime/agent/agent-definition.ts';
import { PACKAGES_FOR, requirePackages } from '../../../runtime/protocol/optional-packages.ts';
import { systemClock } from '../../../runtime/protocol/system-seams.ts';
import { stopMs } from '../coding-agent-options.ts';
import { handleCoding } from '../handle-coding.ts';
import { type AcpAgentOptions, endMs, readAcpOptions } from './acp-agent-options.ts';
import { AcpAttempt } from './acp-attempt.ts';

/**
 * A coding agent that is a program which speaks the Agent Client Protocol: for each task it starts it in the worktree, has one
 * turn of a session with it, answers at once what it asks for, reports what it does, and answers when it and whatever it started
 * are gone. What the program says decides nothing.
 *
 * It runs in a thread or inline, and needs `@agentclientprotocol/sdk`: PEERS_MISSING without it. In a simulation the effect
 * `coding AGENT` answers in its place. Throws INVALID_OPTIONS naming field and value. An attempt fails with REFUSED, RATE_LIMITED
 * (`retryAfterMs`), HANDLER_FAILED, BUDGET_EXCEEDED, DEADLINE_EXCEEDED or CANCELLED.
 */
export function acpAgent(options: AcpAgentOptions): AgentDefinition {
  const { identity, settings } = readAcpOptions(options);
  requirePackages('acpAgent()', PACKAGES_FOR.acp);
  const agent = new AgentDefinition(identity);
  // It keeps nothing between two attempts.
  agent.keepsTaintApart = true;
  agent.cutOffGraceMs = stopMs(endMs(settings));
  return handleCoding(agent, {
    does: settings.does,
    source: 'agent:acp',
    run: (request, ctx, signal) =>
      new AcpAttempt(request, settings, { ctx, clock: systemClock, env: process.env }).run(signal),
  });
}
