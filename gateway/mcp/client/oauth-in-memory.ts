import type {
  OAuthClientInformationContext,
  OAuthClientMetadata,
  OAuthClientProvider,
  OAuthDiscoveryState,
  StoredOAuthClientInformation,
  StoredOAuthTokens,
} from '@modelcontextprotocol/client';
import { z } from 'zod';
import { parseOptions } from '../../../runtime/protocol/parse-options.ts';
import type { McpAuth } from './mcp-target.ts';

const Options = z.strictObject({
  redirectUrl: z.union([z.url(), z.instanceof(URL)]),
  authorize: z.custom<Authorize>((value) => typeof value === 'function', 'a function'),
  clientName: z.string().min(1).default('orrery'),
  clientMetadataUrl: z.url().optional(),
  client: z
    .strictObject({ client_id: z.string().min(1), client_secret: z.string().min(1).optional() })
    .optional(),
  scope: z.string().min(1).optional(),
});

type Authorize = (page: URL, signal: AbortSignal) => Promise<URLSearchParams>;

/**
 * Options of `oauthInMemory`.
 *
 * - `redirectUrl`       URL that the authorization page redirects to.
 * - `authorize`         sends the user to the page at a URL; resolves to the query of the redirect.
 * - `clientName`        name of this client on the page. @default 'orrery'
 * - `clientMetadataUrl` URL of this client's metadata, for servers that take it as a client id.
 * - `client`            id and secret that the server already knows. @default it registers itself
 * - `scope`             scopes to ask for, if the server does not say which it needs.
 */
export type OAuthInMemoryOptions = z.input<typeof Options>;

/** Makes an OAuth client for one MCP server, which keeps tokens in memory only. Throws INVALID_OPTIONS. */
export function oauthInMemory(options: OAuthInMemoryOptions): McpAuth {
  return new OAuthInMemory(parseOptions(Options, options, 'oauthInMemory'));
}

/** Keeps credentials by authorization server, so that none sees those of another: an MCP server may change its own. */
class OAuthInMemory implements OAuthClientProvider {
  readonly #options: z.output<typeof Options>;
  readonly #clients = new Map<string, StoredOAuthClientInformation>();
  readonly #tokens = new Map<string, StoredOAuthTokens>();
  #latest: StoredOAuthTokens | undefined;
  #verifier = '';
  #state = '';
  #page: URL | undefined;
  #discovery: OAuthDiscoveryState | undefined;

  constructor(options: z.output<typeof Options>) {
    this.#options = options;
  }

  get redirectUrl(): string {
    return String(this.#options.redirectUrl);
  }

  get clientMetadataUrl(): string {
    return this.#options.clientMetadataUrl as string;
  }

  get clientMetadata(): OAuthClientMetadata {
    const { clientName, scope } = this.#options;
    return {
      client_name: clientName,
      redirect_uris: [this.redirectUrl],
      grant_types: ['authorization_code', 'refresh_token'],
      response_types: ['code'],
      ...(scope === undefined ? {} : { scope }),
    };
  }

  state(): string {
    this.#state = crypto.getRandomValues(Buffer.alloc(24)).toString('base64url');
    return this.#state;
  }

  clientInformation({
    issuer,
  }: Partial<OAuthClientInformationContext> = {}): StoredOAuthClientInformation | undefined {
    return this.#options.client ?? this.#clients.get(issuer ?? '');
  }

  saveClientInformation(
    client: StoredOAuthClientInformation,
    { issuer = '' }: Partial<OAuthClientInformationContext> = {},
  ): void {
    this.#clients.set(issuer, client);
  }

  tokens({ issuer }: Partial<OAuthClientInformationContext> = {}): StoredOAuthTokens | undefined {
    return issuer === undefined ? this.#latest : this.#tokens.get(issuer);
  }

  saveTokens(tokens: StoredOAuthTokens, { issuer = '' }: Partial<OAuthClientInformationContext> = {}): void {
    this.#tokens.set(issuer, tokens);
    this.#latest = tokens;
    // The MCP server may name another authorization server when a token is needed again.
    this.#discovery = undefined;
  }

  redirectToAuthorization(page: URL): void {
    this.#page = page;
  }

  saveCodeVerifier(verifier: string): void {
    this.#verifier = verifier;
  }

  codeVerifier(): string {
    return this.#verifier;
  }

  saveDiscoveryState(state: OAuthDiscoveryState): void {
    this.#discovery = state;
  }

  discoveryState(): OAuthDiscoveryState | undefined {
    return this.#discovery;
  }

  invalidateCredentials(scope: 'all' | 'client' | 'tokens' | 'verifier' | 'discovery'): void {
    if (scope === 'all' || scope === 'client') this.#clients.clear();
    if (scope === 'all' || scope === 'tokens') {
      this.#tokens.clear();
      this.#latest = undefined;
    }
    if (scope === 'all' || scope === 'verifier') this.#verifier = '';
    if (scope === 'all' || scope === 'discovery') this.#discovery = undefined;
  }

  async authorizationResponse(signal: AbortSignal): Promise<URLSearchParams> {
    const page = this.#page;
    if (page === undefined) throw new Error('nobody was to be sent to a page');
    this.#page = undefined;
    const response = await this.#options.authorize(page, signal);
    if (page.searchParams.has('state') && response.get('state') !== this.#state)
      throw new Error('what came back has another state than what was sent: it is not an answer to it');
    return response;
  }
}
