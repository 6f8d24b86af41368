import { AgentDefinition } from '../../runtime/agent/agent-definition.ts';
import { refused } from '../../runtime/protocol/errors.ts';
import type { McpDialer } from '../../runtime/protocol/mcp-link.ts';
import type { Clock } from '../../runtime/protocol/seams.ts';
import { clientOf } from '../../runtime/public.ts';
import type { McpMemberSettings } from './mcp-server-options.ts';
import { MountedServer } from './mounted-server.ts';

export interface McpServerAgentDeps {
  readonly dialer: McpDialer;
  readonly clock: Clock;
  /** The agent's timeouts for start and stop, milliseconds. */
  readonly startTimeoutMs: number;
  readonly stopTimeoutMs: number;
}

/**
 * Makes an agent of an MCP server. Agent and server end together. The agent offers what the server lists, and follows changes
 * of the lists.
 */
export function mcpServerAgent(
  { dialer, clock, startTimeoutMs, stopTimeoutMs }: McpServerAgentDeps,
  settings: McpMemberSettings,
): AgentDefinition<MountedServer> {
  const { id, name, description, grantedTier, sandboxId } = settings;
  const { restart, supervision, handlingTimeoutMs, mailboxCapacity } = settings;
  const definition: AgentDefinition<MountedServer> = new AgentDefinition({
    id,
    name: name ?? id,
    version: '1.0.0',
    description: description ?? `The tools of ${dialer.target}`,
    tier: grantedTier,
    protocols: ['mcp'],
    delivery: 'once',
    startTimeoutMs,
    stopTimeoutMs,
    ...(sandboxId === undefined ? {} : { sandboxId }),
    ...(restart === undefined ? {} : { restart }),
    ...(supervision === undefined ? {} : { supervision }),
    ...(handlingTimeoutMs === undefined ? {} : { handlingTimeoutMs }),
    ...(mailboxCapacity === undefined ? {} : { mailboxCapacity }),
  }).onStart(async (ctx) => {
    if (!('cell' in ctx))
      throw refused(
        `${id} is started in a process of its own: its server has one, and the agent lives in a thread`,
      );
    const server = new MountedServer({ dialer, clock, settings, definition, client: clientOf(ctx) });
    await server.start(ctx);
    return server;
  });
  definition.isProxy = true;
  definition.concurrency = settings.concurrency;
  definition.checksOptions = true;
  // There is no state if it is stopped before it has started.
  return definition.onStop((ctx) => (ctx.state as MountedServer | undefined)?.stop());
}
