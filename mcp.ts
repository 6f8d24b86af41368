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

/** Which MCP server, how it is spoken to, and how it is a member here. */
export type McpServerOptions = McpMember & McpTarget;

/** Beside what the server may take to end: what is left of it is looked after. */
const MARGIN_MS = 2_000;

/**
 * An MCP server elsewhere, a program or a URL, as an agent that can be started here:
 * `startSystem({ agents: [mcpServer({ id: 'files', command: 'npx', args: ['…'] })] })`, or exported by a module. Its tools are
 * its capabilities, `files.read`; its resources and prompts stand on its card. When the server dies, hangs or says what is no
 * use, its agent does, and its supervisor starts both again; what was in hand is told, and never tried again.
 *
 * Throws INVALID_OPTIONS naming field and value. Starting it for the first time rejects with INVALID_OPTIONS when the program
 * cannot be started, or ends before it has said that it speaks MCP; what else keeps the server from being had is tried again.
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
  const { clock } = systemSeams();
  const { connectTimeoutMs, stopGraceMs } = settings;
  return mcpServerAgent(
    {
      dialer: new McpClientDialer(member.id, settings, clock),
      clock,
      startTimeoutMs: connectTimeoutMs + MARGIN_MS,
      stopTimeoutMs: 2 * stopGraceMs + MARGIN_MS,
    },
    member,
  ) as AgentDefinition<unknown>;
}
