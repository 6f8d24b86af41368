import { mcpServerAgent } from './actors/mcp-servers/mcp-server-agent.ts';
import { McpMember } from './actors/mcp-servers/mcp-server-options.ts';
import type { AgentDefinition } from './runtime/agent/agent-definition.ts';
import { parseOptions } from './runtime/protocol/parse-options.ts';
import { systemSeams } from './runtime/protocol/system-seams.ts';
import { requireOptions } from './runtime/system/system-options.ts';
import { McpClientDialer } from './gateway/mcp/client/mcp-client-dialer.ts';
import { McpTarget } from './gateway/mcp/client/mcp-target.ts';

export { type OAuthInMemoryOptions, oauthInMemory } from './gateway/mcp/client/oauth-in-memory.ts';
export type { McpAuth } from './gateway/mcp/client/mcp-target.ts';
export type { AskModel, AskPerson, Root } from './gateway/mcp/client/server-requests.ts';

/** Options of `mcpServer`: the server, how to connect to it, and its membership in the team. */
export type McpServerOptions = McpMember & McpTarget;

/** Time to start or stop beyond the server's own, milliseconds. */
const MARGIN_MS = 2_000;

/**
 * Makes an agent of an MCP server, a program or a URL: `startSystem({ agents: [mcpServer({ id: 'files', command: 'npx', args:
 * ['…'] })] })`, or exported by a module.
 *
 * Each tool becomes a capability, such as `files.read`. Resources and prompts appear on the agent's card. If the server dies,
 * hangs or sends invalid messages, its agent dies too, and the supervisor starts both again. Calls in hand are rejected, and
 * never repeated.
 *
 * Throws INVALID_OPTIONS naming field and value. The first start rejects with INVALID_OPTIONS if the program cannot be
 * started, or ends before it has answered as an MCP server. After any other failure the start is tried again.
 */
export function mcpServer(options: McpServerOptions): AgentDefinition<unknown> {
  const { id, name, description, grantedTier, sandboxId, tools, privileged, catalogue, answerMs, ...rest } =
    requireOptions(options);
  const { concurrency, restart, supervision, handlingTimeoutMs, mailboxCapacity, ...target } = rest;
  const given = { id, name, description, grantedTier, sandboxId, tools, privileged, catalogue, answerMs };
  const member = parseOptions(
    McpMember,
    { ...given, concurrency, restart, supervision, handlingTimeoutMs, mailboxCapacity },
    'mcpServer',
  );
  const settings = parseOptions(McpTarget, target, 'mcpServer');
  const seams = systemSeams();
  const { clock } = seams;
  const { connectTimeoutMs, stopGraceMs } = settings;
  return mcpServerAgent(
    {
      dialer: new McpClientDialer(member.id, settings, seams),
      clock,
      startTimeoutMs: connectTimeoutMs + MARGIN_MS,
      stopTimeoutMs: 2 * stopGraceMs + MARGIN_MS,
    },
    member,
  ) as AgentDefinition<unknown>;
}
