import { isInstalled, PACKAGES_FOR, requirePackages } from '../runtime/protocol/optional-packages.ts';
import { parseOptions } from '../runtime/protocol/parse-options.ts';
import type { GatewayPart } from './http/gateway-part.ts';
import { McpOptions } from './mcp/server/mcp-options.ts';
import type { McpConnection, McpStdioOptions } from './mcp/server/mcp-stdio.ts';
import { McpService, type McpServiceDeps } from './mcp/server/mcp-service.ts';

/** MCP over a team's tools and tasks, over whatever transport. Throws INVALID_OPTIONS naming field and value. */
const mcpService = (options: McpOptions, deps: McpServiceDeps): McpService =>
  new McpService(deps, parseOptions(McpOptions, options, 'mcp'));

/**
 * MCP as a part of a gateway. None if it is not asked for and its packages are not installed. Rejects with
 * INVALID_OPTIONS and PEERS_MISSING.
 */
export async function mcpParts(
  options: McpOptions | undefined,
  deps: McpServiceDeps,
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
  deps: McpServiceDeps,
  connection: McpStdioOptions,
): Promise<McpConnection> {
  const service = mcpService(options, deps);
  requirePackages('MCP over standard input', PACKAGES_FOR.mcp);
  const { serveMcpStdio } = await import('./mcp/server/mcp-stdio.ts');
  return serveMcpStdio(service, connection);
}
