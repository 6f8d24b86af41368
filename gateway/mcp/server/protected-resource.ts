import { isOrreryError } from '../../../runtime/protocol/errors.ts';
import type { ParsedMcpOptions } from './mcp-options.ts';

/** The path of protected resource metadata, before the path of the resource (RFC 9728). */
export const METADATA_PATH = '/.well-known/oauth-protected-resource';

/** Protected resource metadata (RFC 9728) of the MCP endpoint at `url`. */
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

/**
 * The `WWW-Authenticate` of a refusal (RFC 6750): how to authenticate, or which scopes are missing. Undefined for other
 * errors. `isKnown`: the caller sent credentials.
 */
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
