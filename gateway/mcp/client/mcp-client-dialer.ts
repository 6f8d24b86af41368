import { statSync } from 'node:fs';
import {
  Client,
  type jsonSchemaValidator,
  SSEClientTransport,
  SdkHttpError,
  SseError,
  StreamableHTTPClientTransport,
  type Transport,
  UnauthorizedError,
} from '@modelcontextprotocol/client';
import { invalidOptions, OrreryError, reasonOf } from '../../../runtime/protocol/errors.ts';
import { remoteFailed } from '../../../runtime/protocol/edge-errors.ts';
import type { McpConnection, McpDialer, McpListener } from '../../../runtime/protocol/mcp-link.ts';
import type { Clock, Seams } from '../../../runtime/protocol/seams.ts';
import { boundedFetch } from './bounded-fetch.ts';
import { ChangeWatch } from './change-watch.ts';
import { ConnectionLost, failureOf } from './mcp-failure.ts';
import { type Connected, McpSession } from './mcp-session.ts';
import type { McpAuth, McpTargetSettings } from './mcp-target.ts';
import { answerServer, clientCapabilities } from './server-requests.ts';
import { Silence } from './silence.ts';
import { steadyFetch } from './steady-fetch.ts';
import { StdioTransport } from './stdio-transport.ts';

const CLIENT_INFO = { name: 'orrery', version: '0.1.0' };
/** The share of `connectTimeoutMs` that the probe for 2026-07-28 may take. A server that does not answer it gets the rest. */
const PROBE_SHARE = 0.4;

/** The program ended before it was connected; the message says how. */
class ProgramEnded extends Error {}

type HttpTransport = StreamableHTTPClientTransport | SSEClientTransport;

/**
 * A transport that is not connected yet, with what depends on its kind.
 *
 * - `reason`   why it was closed.
 * - `hasEnded` whether it was a program that ended on its own.
 */
interface Way {
  readonly transport: Transport;
  readonly reason: () => string;
  readonly hasEnded: () => boolean;
  readonly kill: (reason: string) => void;
}

/** What a connection needs of the session, which is made after it. */
interface Late {
  readonly silence: Silence;
  tooLarge(): void;
}

/** Connects to one MCP server, as a program that it starts or over HTTP, as often as asked. */
export class McpClientDialer implements McpDialer {
  readonly target: string;
  readonly #settings: McpTargetSettings;
  readonly #seams: Pick<Seams, 'clock' | 'tracer'>;
  /** The server is known to be older than 2026-07-28, so it is not probed again. */
  #isLegacy = false;
  #isSse = false;

  /** `name` stands for a program in errors. */
  constructor(name: string, settings: McpTargetSettings, seams: Pick<Seams, 'clock' | 'tracer'>) {
    this.#settings = settings;
    this.#seams = seams;
    const { url } = settings;
    this.target = url === undefined ? `the MCP server ${name}` : shown(new URL(url));
    this.#isLegacy = settings.revision === 'legacy';
    this.#isSse = settings.transport === 'sse';
  }

  async connect(listener: McpListener, signal: AbortSignal): Promise<McpConnection> {
    let session: McpSession | undefined;
    const silence = new Silence(this.#seams.clock, this.#settings.silenceMs);
    const late: Late = { silence, tooLarge: () => session?.tooLarge() };
    const connectAgain = (): Promise<Connected> => this.#connect(listener, late, signal);
    const connected = await this.#connect(listener, late, signal);
    session = new McpSession(connected, {
      target: this.target,
      settings: this.#settings,
      silence,
      seams: this.#seams,
      connectAgain,
      // Notifications may have been missed in between.
      onRenewed: () => listener.onChange('tools'),
    });
    return session;
  }

  async #connect(listener: McpListener, late: Late, signal: AbortSignal): Promise<Connected> {
    const { connectTimeoutMs } = this.#settings;
    try {
      return await this.#tryWays(listener, late, signal);
    } catch (error) {
      signal.throwIfAborted();
      const wrong = this.#wrongProgram(error);
      if (wrong !== undefined) throw wrong;
      const failure = failureOf(error, this.target, connectTimeoutMs);
      throw failure instanceof ConnectionLost ? remoteFailed(this.target, failure.message) : failure;
    }
  }

  /** The error for a program that ended before it was connected: `command` or `cwd` is wrong. */
  #wrongProgram(error: unknown): OrreryError | undefined {
    const { command, cwd } = this.#settings;
    if (!(error instanceof ProgramEnded)) return undefined;
    if (cwd !== undefined && statSync(cwd, { throwIfNoEntry: false })?.isDirectory() !== true)
      return invalidOptions('cwd', cwd, 'a folder');
    return invalidOptions('command', command, `a program that speaks MCP: ${error.message}`);
  }

  /**
   * Tries the newest revision and transport, then older ones. An old server may answer the probe with anything, or even exit.
   */
  async #tryWays(listener: McpListener, late: Late, signal: AbortSignal): Promise<Connected> {
    try {
      return await this.#try(listener, late, signal);
    } catch (error) {
      signal.throwIfAborted();
      const { url, transport, revision } = this.#settings;
      if (error instanceof OrreryError || error instanceof UnauthorizedError) throw error;
      if (url === undefined && revision === 'auto' && !this.#isLegacy) {
        this.#isLegacy = true;
        try {
          return await this.#try(listener, late, signal);
        } catch (again) {
          this.#isLegacy = false;
          throw again;
        }
      }
      const isOlder = error instanceof SdkHttpError && [400, 404, 405].includes(error.status ?? 0);
      if (url === undefined || transport !== 'auto' || this.#isSse || !isOlder) throw error;
      this.#isSse = true;
      this.#isLegacy = true;
      try {
        return await this.#try(listener, late, signal);
      } catch {
        this.#isSse = false;
        this.#isLegacy = revision === 'legacy';
        throw error; // The newer transport's error is more useful.
      }
    }
  }

  async #try(listener: McpListener, late: Late, signal: AbortSignal, mayAsk = true): Promise<Connected> {
    const { connectTimeoutMs, auth } = this.#settings;
    const client = this.#client();
    const watch = new ChangeWatch(client, { listener, clock: this.#seams.clock });
    answerServer(client, this.#settings, late.silence);
    const way = this.#way(listener, late);
    const close = async (isForgotten = false): Promise<void> => {
      watch.end();
      // A forgotten session is not ended: the server may have given its id to another.
      if (!isForgotten) await endSession(way.transport, this.#seams.clock);
      await client.close();
      await way.transport.close();
    };
    const abort = (): void => way.kill('nobody waits for it');
    signal.addEventListener('abort', abort, { once: true });
    try {
      signal.throwIfAborted();
      await client.connect(way.transport, {
        timeout: connectTimeoutMs,
        ...(this.#isLegacy ? { prior: { kind: 'legacy' } as const } : {}),
      });
      signal.throwIfAborted();
    } catch (error) {
      const reason = way.reason();
      const hasEnded = way.hasEnded();
      way.kill('it could not be connected');
      await way.transport.close().catch(() => undefined);
      if (error instanceof UnauthorizedError && mayAsk && auth?.authorizationResponse !== undefined) {
        await finishAuth(way.transport as HttpTransport, auth, signal);
        return this.#try(listener, late, signal, false);
      }
      if (hasEnded) throw new ProgramEnded(reason, { cause: error });
      throw isEnd(error) ? new Error(`${reasonOf(error)}: ${reason}`, { cause: error }) : error;
    } finally {
      signal.removeEventListener('abort', abort);
    }
    watch.begin();
    // All answers come in one stream of SSE. A new stream would be a new session.
    client.onerror = (error) => {
      if (error instanceof SseError) void client.close();
    };
    const authorize =
      auth?.authorizationResponse === undefined
        ? undefined
        : (waits: AbortSignal = signal) => finishAuth(way.transport as HttpTransport, auth, waits);
    const isRenewable = this.#settings.url !== undefined;
    const want = (uris: readonly string[]): void => watch.want(uris);
    return { client, isRenewable, reason: way.reason, watch: want, authorize, close };
  }

  #client(): Client {
    const { connectTimeoutMs, revision, url } = this.#settings;
    const isDated = revision !== 'auto' && revision !== 'legacy';
    const isModern = isDated && revision >= '2026-07-28';
    return new Client(CLIENT_INFO, {
      capabilities: clientCapabilities(this.#settings),
      // Outputs are validated in `McpSession`, without regular expressions.
      jsonSchemaValidator: ANY_OUTPUT,
      ...(isDated && !isModern ? { supportedProtocolVersions: [revision] } : {}),
      versionNegotiation: isModern
        ? { mode: { pin: revision } }
        : {
            mode: isDated || this.#isLegacy ? 'legacy' : 'auto',
            probe: { timeoutMs: url === undefined ? connectTimeoutMs * PROBE_SHARE : connectTimeoutMs },
          },
    });
  }

  #way(listener: McpListener, late: Late): Way {
    const { command, args, env, cwd, url, maxMessageBytes, maxUnaskedBytes, stopGraceMs } = this.#settings;
    const onTooLarge = (): void => late.tooLarge();
    if (command === undefined) return this.#http(new URL(url as string | URL), onTooLarge);
    const transport = new StdioTransport(
      {
        order: { command, args, env, cwd },
        clock: this.#seams.clock,
        onTooLarge,
        onLog: (text) => listener.onLog(text),
      },
      { maxMessageBytes, maxUnaskedBytes, stopGraceMs },
    );
    return {
      transport,
      reason: () => transport.reason,
      hasEnded: () => transport.hasEnded,
      kill: (reason) => transport.kill(reason),
    };
  }

  #http(url: URL, onTooLarge: () => void): Way {
    const { headers, auth, maxMessageBytes } = this.#settings;
    const options = {
      fetch: boundedFetch({ fetch: steadyFetch(fetch), maxMessageBytes, onTooLarge }),
      ...(headers === undefined ? {} : { requestInit: { headers } }),
      ...(auth === undefined ? {} : { authProvider: auth }),
    };
    const transport = this.#isSse
      ? new SSEClientTransport(url, options)
      : new StreamableHTTPClientTransport(url, options);
    return {
      transport: transport as Transport,
      reason: () => 'the connection was closed',
      hasEnded: () => false,
      kill: () => void transport.close().catch(() => undefined),
    };
  }
}

/** Accepts every output: `McpSession` validates it. */
const ANY_OUTPUT: jsonSchemaValidator = {
  getValidator: () => (input) => ({ valid: true, data: input as never, errorMessage: undefined }),
};

async function finishAuth(transport: HttpTransport, auth: McpAuth, signal: AbortSignal): Promise<void> {
  const response = await auth.authorizationResponse?.(signal);
  if (response !== undefined) await transport.finishAuth(response);
}

/** Ends the session at the server. If that takes more than 500 ms, the server has to forget it on its own. */
async function endSession(transport: Transport, clock: Clock): Promise<void> {
  if (!(transport instanceof StreamableHTTPClientTransport) || transport.sessionId === undefined) return;
  await new Promise<void>((resolve) => {
    const stop = clock.setTimer(500, resolve);
    void transport
      .terminateSession()
      .catch(() => undefined)
      .finally(() => {
        stop();
        resolve();
      });
  });
}

const isEnd = (error: unknown): boolean =>
  ['CONNECTION_CLOSED', 'NOT_CONNECTED', 'ERA_NEGOTIATION_FAILED'].includes(
    String((error as { code?: unknown } | null)?.code),
  );

/** The URL without query and credentials, which may be secret. */
function shown(url: URL): string {
  return `${url.origin}${url.pathname}`;
}
