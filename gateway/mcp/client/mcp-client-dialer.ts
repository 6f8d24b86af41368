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
import type { Clock } from '../../../runtime/protocol/seams.ts';
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
/** Of the time to connect a silent server of before 2026-07-28 costs so much; one that is slow to start has the rest. */
const PROBE_SHARE = 0.4;

/** The program ended before there was a connection to it; the message says how. */
class ProgramEnded extends Error {}

type HttpTransport = StreamableHTTPClientTransport | SSEClientTransport;

/** A transport that is not connected yet, and what is to be known of it. */
interface Way {
  readonly transport: Transport;
  readonly reason: () => string;
  /** Whether it was a program that has ended of its own accord. */
  readonly hasEnded: () => boolean;
  readonly kill: (reason: string) => void;
}

/** What a connection has to do with the session that it is of. */
interface Late {
  readonly silence: Silence;
  tooLarge(): void;
}

/** Reaches one MCP server, by starting it or over HTTP, as often as it is asked to. */
export class McpClientDialer implements McpDialer {
  readonly target: string;
  readonly #settings: McpTargetSettings;
  readonly #clock: Clock;
  /** It is known to be of before 2026-07-28, and is not asked for what it does not know another time. */
  #isLegacy = false;
  #isSse = false;

  /** `name`: what a server that is a program is called in errors. */
  constructor(name: string, settings: McpTargetSettings, clock: Clock) {
    this.#settings = settings;
    this.#clock = clock;
    const { url } = settings;
    this.target = url === undefined ? `the MCP server ${name}` : shown(new URL(url));
    this.#isLegacy = settings.revision === 'legacy';
    this.#isSse = settings.transport === 'sse';
  }

  async connect(listener: McpListener, signal: AbortSignal): Promise<McpConnection> {
    let session: McpSession | undefined;
    const silence = new Silence(this.#clock, this.#settings.silenceMs);
    const late: Late = { silence, tooLarge: () => session?.tooLarge() };
    const connectAgain = (): Promise<Connected> => this.#connect(listener, late, signal);
    const connected = await this.#connect(listener, late, signal);
    session = new McpSession(connected, {
      target: this.target,
      settings: this.#settings,
      silence,
      clock: this.#clock,
      connectAgain,
      // What it said while nobody heard it is not known.
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

  /** A program that has ended before it said that it speaks MCP is not the one that was meant, or lacks what it needs. */
  #wrongProgram(error: unknown): OrreryError | undefined {
    const { command, cwd } = this.#settings;
    if (!(error instanceof ProgramEnded)) return undefined;
    if (cwd !== undefined && statSync(cwd, { throwIfNoEntry: false })?.isDirectory() !== true)
      return invalidOptions('cwd', cwd, 'a folder');
    return invalidOptions('command', command, `a program that speaks MCP: ${error.message}`);
  }

  /** What a server of before 2026-07-28 does about a question that it does not know is its own affair; some end over it. */
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
        throw error; // What the newer transport says is more to the point.
      }
    }
  }

  async #try(listener: McpListener, late: Late, signal: AbortSignal, mayAsk = true): Promise<Connected> {
    const { connectTimeoutMs, auth } = this.#settings;
    const client = this.#client();
    const watch = new ChangeWatch(client, { listener, clock: this.#clock });
    answerServer(client, this.#settings, late.silence);
    const way = this.#way(listener, late);
    const close = async (isForgotten = false): Promise<void> => {
      watch.end();
      // By the name of one that is forgotten the server may know another one by now.
      if (!isForgotten) await endSession(way.transport, this.#clock);
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
    // Its answers come in one stream; in another one it would know nothing of this session.
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
      // Outputs are judged by schemas without the regular expressions of somebody else.
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
    const transport = new StdioTransport({
      order: { command, args, env, cwd },
      clock: this.#clock,
      maxMessageBytes,
      maxUnaskedBytes,
      stopGraceMs,
      onTooLarge,
      onLog: (text) => listener.onLog(text),
    });
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

/** Takes whatever a tool answers; its schema is looked at elsewhere. */
const ANY_OUTPUT: jsonSchemaValidator = {
  getValidator: () => (input) => ({ valid: true, data: input as never, errorMessage: undefined }),
};

async function finishAuth(transport: HttpTransport, auth: McpAuth, signal: AbortSignal): Promise<void> {
  const response = await auth.authorizationResponse?.(signal);
  if (response !== undefined) await transport.finishAuth(response);
}

/** Lets a server forget the session. One that does not answer soon forgets it by itself. */
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

/** Without what may be secret. */
function shown(url: URL): string {
  return `${url.origin}${url.pathname}`;
}
