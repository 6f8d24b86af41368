import { isInstalled, PACKAGES_FOR, requirePackages } from '../runtime/protocol/optional-packages.ts';
import { parseOptions } from '../runtime/protocol/parse-options.ts';
import type { FirewallGuard } from '../runtime/protocol/firewall.ts';
import type { Seams } from '../runtime/protocol/seams.ts';
import type { NoteFailure } from '../runtime/protocol/told-failure.ts';
import type { TaskService } from '../runtime/protocol/task-service.ts';
import type { ToolService } from '../runtime/protocol/tool-service.ts';
import type { GatewayPart } from './http/gateway-part.ts';
import { McpOptions } from './mcp/server/mcp-options.ts';
import type { McpConnection, McpStdioOptions } from './mcp/server/mcp-stdio.ts';
import { McpService } from './mcp/server/mcp-service.ts';
import type { ServedTeam } from './team/served-team.ts';
import { type Trusts, trustsByDefault } from './team/caller-rights.ts';

/**
 * - `trusts`    whose words are as good as said here. @default users and services that have proved who they are
 * - `strangers` those who prove nothing are not one and the same.
 * - `firewall`  attests results. @default they are not attested
 * - `note`      keeps for the operator what callers are not told.
 */
export interface OpenMcpDeps {
  readonly tools: ToolService;
  readonly tasks: TaskService;
  readonly team: ServedTeam;
  readonly seams: Seams;
  readonly trusts?: Trusts | undefined;
  readonly strangers: boolean;
  readonly firewall?: FirewallGuard | undefined;
  readonly note: NoteFailure;
}

/** MCP over a team's tools and tasks, whatever it is spoken over. Throws INVALID_OPTIONS naming field and value. */
export function mcpService(
  options: McpOptions,
  { tools, tasks, team, seams, trusts = trustsByDefault, strangers, firewall, note }: OpenMcpDeps,
): McpService {
  return new McpService({
    tools,
    tasks,
    identity: team.identity,
    options: parseOptions(McpOptions, options, 'mcp'),
    seams,
    isServed: (agentId) => team.card(agentId) !== undefined,
    revision: () => team.revision,
    trusts,
    strangers,
    firewall,
    note,
  });
}

/**
 * MCP as a part of a gateway. None if it is not asked for and its packages are not installed. Rejects with
 * INVALID_OPTIONS and PEERS_MISSING.
 */
export async function mcpParts(
  options: McpOptions | undefined,
  deps: OpenMcpDeps,
): Promise<readonly GatewayPart[]> {
  const service = mcpService(options ?? {}, deps);
  if (options === undefined && !PACKAGES_FOR.mcp.every(isInstalled)) return [];
  requirePackages('MCP (mcp)', PACKAGES_FOR.mcp);
  const { mcpPart } = await import('./mcp/server/mcp-part.ts');
  return [mcpPart(service)];
}

/** MCP over a pair of streams. Rejects with INVALID_OPTIONS and PEERS_MISSING. */
export async function mcpStdio(
  options: McpOptions,
  deps: OpenMcpDeps,
  connection: McpStdioOptions,
): Promise<McpConnection> {
  const service = mcpService(options, deps);
  requirePackages('MCP over standard input', PACKAGES_FOR.mcp);
  const { serveMcpStdio } = await import('./mcp/server/mcp-stdio.ts');
  return serveMcpStdio(service, connection);
}
