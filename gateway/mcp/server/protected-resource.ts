import { isOrreryError } from '../../../runtime/protocol/errors.ts';
import type { ParsedMcpOptions } from './mcp-options.ts';

/** Where it is said how to get a token for what is served under a path (RFC 9728). */
export const METADATA_PATH = '/.well-known/oauth-protected-resource';

/** `url`: under which MCP is served. */
export function resourceMetadata(
  url: string,
  name: string,
  { authorizationServers, scopes }: ParsedMcpOptions,
): Record<string, unknown> {
  return {
    resource: url,
    resource_name: name,
    authorization_servers: authorizationServers,
    bearer_methods_supported: ['header'],
    ...(scopes.use.length === 0 ? {} : { scopes_supported: scopes.use }),
  };
}

/** What the answer says to whoever may not: how to prove who one is, or what one has to be allowed besides. */
export function challengeOf(
  error: unknown,
  {
    metadataUrl,
    scopes,
    isKnown,
  }: {
    readonly metadataUrl: string | undefined;
    readonly scopes: readonly string[];
    readonly isKnown: boolean;
  },
): string | undefined {
  if (!isOrreryError(error)) return undefined;
  const isRefused = error.code === 'NOT_PERMITTED';
  if (error.code !== 'UNAUTHENTICATED' && !isRefused) return undefined;
  const reason = isRefused ? 'insufficient_scope' : isKnown ? 'invalid_token' : undefined;
  const fields = [
    ...(reason === undefined ? [] : [`error="${reason}"`]),
    ...(scopes.length === 0 ? [] : [`scope="${scopes.join(' ')}"`]),
    ...(metadataUrl === undefined ? [] : [`resource_metadata="${metadataUrl}"`]),
  ];
  return fields.length === 0 ? 'Bearer' : `Bearer ${fields.join(', ')}`;
}
