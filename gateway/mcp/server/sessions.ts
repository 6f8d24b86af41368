import { type Server, WebStandardStreamableHTTPServerTransport } from '@modelcontextprotocol/server';
import { OrreryError } from '../../../runtime/protocol/errors.ts';
import { chargedName, type Principal } from '../../../runtime/protocol/principal.ts';
import type { Clock } from '../../../runtime/protocol/seams.ts';
import { randomNonce } from '../../../runtime/protocol/signing.ts';
import { MCP_CODES } from './mcp-errors.ts';

interface Session {
  readonly id: string;
  readonly owner: string;
  readonly caller: string;
  readonly server: Server;
  readonly transport: WebStandardStreamableHTTPServerTransport;
  readonly subscriptions: Set<string>;
  /** How many of its requests and streams are open. */
  open: number;
  usedAtMs: number;
}

/**
 * - `max`          sessions in all.
 * - `maxPerCaller` sessions of one caller, whatever roles it has.
 * - `serverFor`    makes the server of a session, which keeps in `subscriptions` the URIs that the client subscribes to.
 */
export interface SessionsDeps {
  readonly clock: Clock;
  readonly max: number;
  readonly maxPerCaller: number;
  readonly idleMs: number;
  readonly keepAliveMs: number;
  serverFor(principal: Principal, subscriptions: Set<string>): Server;
}

const RETRY_MS = 5_000;

/**
 * The sessions of clients before 2026-07-28. Their number is bounded, they end when unused, and each belongs to one caller.
 * An unknown session is answered with 404, upon which clients start a new one, also after a restart.
 */
export class Sessions {
  readonly #deps: SessionsDeps;
  readonly #sessions = new Map<string, Session>();
  #cancelSweep: (() => void) | undefined;
  #isClosed = false;

  constructor(deps: SessionsDeps) {
    this.#deps = deps;
  }

  get size(): number {
    return this.#sessions.size;
  }

  /** Serves a request of a revision before 2026-07-28. `body` is undefined for GET and DELETE. */
  async serve(request: Request, body: unknown, principal: Principal): Promise<Response> {
    const id = request.headers.get('mcp-session-id');
    if (id === null) {
      if (isInitialize(body)) return this.#begin(request, body, principal);
      return failure(400, 'Bad Request: Mcp-Session-Id is missing; a session begins with initialize');
    }
    const session = this.#sessions.get(id);
    if (session === undefined || session.owner !== ownerOf(principal))
      return failure(404, 'Session not found');
    const refusal = Array.isArray(body) ? batchRefusal(body, session.server) : undefined;
    if (refusal !== undefined) return failure(400, refusal, MCP_CODES.invalidRequest);
    return this.#use(session, request, body);
  }

  /** Notifies all sessions, or only those that subscribe to a URI. */
  tell(say: (server: Server) => Promise<void>, uri?: string): void {
    for (const { server, subscriptions } of this.#sessions.values())
      if (uri === undefined || subscriptions.has(uri))
        // A client without an open stream gets nothing.
        say(server).catch(() => undefined);
  }

  /** Ends the streams on which sessions get notifications. */
  endStreams(): void {
    for (const { transport } of this.#sessions.values()) transport.closeStandaloneSSEStream();
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    this.#cancelSweep?.();
    await Promise.allSettled([...this.#sessions.values()].map((session) => this.#end(session)));
  }

  async #begin(request: Request, body: unknown, principal: Principal): Promise<Response> {
    this.#makeRoom(callerOf(principal));
    const { clock, keepAliveMs, serverFor } = this.#deps;
    const subscriptions = new Set<string>();
    const id = randomNonce();
    const server = serverFor(principal, subscriptions);
    const transport = new WebStandardStreamableHTTPServerTransport({
      sessionIdGenerator: () => id,
      keepAliveMs,
    });
    const session: Session = {
      id,
      owner: ownerOf(principal),
      caller: callerOf(principal),
      server,
      transport,
      subscriptions,
      // Counts as in use, so that it is not ended before it has begun.
      open: 1,
      usedAtMs: clock.now(),
    };
    // It counts against the limits while it connects.
    this.#sessions.set(id, session);
    this.#sweepLater();
    const response = await this.#connected(session, () => this.#use(session, request, body));
    // A refused initialize leaves no session.
    if (!response.ok) await this.#end(session);
    return response;
  }

  async #connected(session: Session, use: () => Promise<Response>): Promise<Response> {
    try {
      await session.server.connect(session.transport);
      const response = use();
      session.open -= 1;
      return await response;
    } catch (error) {
      await this.#end(session);
      throw error;
    }
  }

  async #use(session: Session, request: Request, body: unknown): Promise<Response> {
    const { clock } = this.#deps;
    session.open += 1;
    session.usedAtMs = clock.now();
    let isDone = false;
    const done = (): void => {
      if (isDone) return;
      isDone = true;
      session.open -= 1;
      session.usedAtMs = clock.now();
    };
    try {
      const response = await session.transport.handleRequest(
        request,
        body === undefined ? {} : { parsedBody: body },
      );
      if (request.method === 'DELETE' && response.ok) await this.#end(session);
      return endingBy(response, done, request.signal);
    } catch (error) {
      done();
      throw error;
    }
  }

  /**
   * Ends the session that is unused for longest if a limit is reached: one of the caller at its own limit, else one of the
   * caller with most unused sessions. Throws QUOTA_EXCEEDED or RATE_LIMITED if all are in use.
   */
  #makeRoom(caller: string): void {
    const { max, maxPerCaller } = this.#deps;
    if (this.#isClosed) throw new OrreryError('SYSTEM_STOPPED', 'The gateway closes');
    const all = [...this.#sessions.values()];
    const own = all.filter((session) => session.caller === caller);
    if (own.length >= maxPerCaller) {
      const what = `No more than ${maxPerCaller} sessions of one caller; end one, or try again later`;
      return this.#endIdlest(own, 'QUOTA_EXCEEDED', what);
    }
    if (all.length >= max)
      this.#endIdlest(ofWhoHasMost(all), 'RATE_LIMITED', `${max} sessions are open; try again later`);
  }

  #endIdlest(sessions: readonly Session[], code: 'QUOTA_EXCEEDED' | 'RATE_LIMITED', otherwise: string): void {
    const [idlest] = sessions
      .filter(({ open }) => open === 0)
      .sort((one, other) => one.usedAtMs - other.usedAtMs);
    if (idlest === undefined) throw new OrreryError(code, otherwise, { details: { retryAfterMs: RETRY_MS } });
    void this.#end(idlest);
  }

  #sweepLater(): void {
    if (this.#cancelSweep !== undefined || this.#isClosed) return;
    const { clock, idleMs } = this.#deps;
    this.#cancelSweep = clock.setTimer(idleMs / 2, () => {
      this.#cancelSweep = undefined;
      const since = clock.now() - idleMs;
      for (const session of [...this.#sessions.values()])
        if (session.open === 0 && session.usedAtMs <= since) void this.#end(session);
      if (this.#sessions.size > 0) this.#sweepLater();
    });
  }

  async #end(session: Session): Promise<void> {
    this.#sessions.delete(session.id);
    await session.server.close();
  }
}

/** The key of a session's owner. A caller whose roles have changed needs a new session. */
const ownerOf = ({ id, tenant, kind, roles, tier, trust }: Principal): string =>
  JSON.stringify([tenant, id, kind, [...roles].sort(), tier, trust]);

/** The key that sessions of one caller are counted by, whatever its roles. */
const callerOf = (principal: Principal): string =>
  JSON.stringify([principal.tenant, chargedName(principal), principal.kind]);

/** The unused sessions of the caller that has most of them, so that callers with few keep theirs. */
function ofWhoHasMost(sessions: readonly Session[]): readonly Session[] {
  const idle = Map.groupBy(
    sessions.filter(({ open }) => open === 0),
    ({ caller }) => caller,
  );
  return [...idle.values()].reduce<readonly Session[]>(
    (most, own) => (own.length > most.length ? own : most),
    [],
  );
}

/** The only revision with batches. */
const BATCHING = '2025-03-26';
export const MAX_BATCH = 50;

function batchRefusal(batch: readonly unknown[], server: Server): string | undefined {
  if (server.getNegotiatedProtocolVersion() !== BATCHING) return `Only ${BATCHING} has batches`;
  return batch.length > MAX_BATCH ? `A batch has at most ${MAX_BATCH} messages` : undefined;
}

const isInitialize = (body: unknown): boolean =>
  (body as { method?: unknown } | null | undefined)?.method === 'initialize';

/** The answer to a request that no session takes. */
const failure = (status: number, message: string, code = -32000): Response =>
  Response.json({ jsonrpc: '2.0', error: { code, message }, id: null }, { status });

/** The response; calls `done` when its last byte is sent, or the client has gone. */
function endingBy(response: Response, done: () => void, signal: AbortSignal): Response {
  if (response.body === null) {
    done();
    return response;
  }
  signal.addEventListener('abort', done, { once: true });
  const { readable, writable } = new TransformStream<Uint8Array, Uint8Array>();
  response.body
    .pipeTo(writable)
    .catch(() => undefined)
    .finally(() => {
      signal.removeEventListener('abort', done);
      done();
    });
  return new Response(readable, response);
}
