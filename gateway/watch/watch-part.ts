import { timingSafeEqual, createHash } from 'node:crypto';
import { notPermitted, unauthenticated } from '../../runtime/protocol/edge-errors.ts';
import type { MachineDrawing } from '../../runtime/protocol/machine-drawing.ts';
import { isOrreryError } from '../../runtime/protocol/errors.ts';
import type { JsonValue } from '../../runtime/protocol/json-value.ts';
import type { Principal } from '../../runtime/protocol/principal.ts';
import type { Seams } from '../../runtime/protocol/seams.ts';
import { responseOf } from '../http/answer.ts';
import type { Edge, GatewayPart, RouteContext } from '../http/gateway-part.ts';
import { jsonError } from '../http/http-errors.ts';
import { sseAnswer } from '../http/sse.ts';
import { type PageFile, pageFile } from './page-files.ts';
import { redacted } from './redact.ts';
import { replay } from './replay.ts';
import { WatchFeed } from './watch-feed.ts';
import { OPERATOR, type ParsedWatchOptions } from './watch-options.ts';
import type { WatchedSystem, WatchState } from './watch-state.ts';

/** The header with the token of whoever may act. */
export const UNLOCK_HEADER = 'x-orrery-unlock';

/** What the page may load and do: nothing but what is served beside it. */
const PAGE_POLICY =
  "default-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data: blob:; " +
  "connect-src 'self'; worker-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";
const HEARTBEAT_MS = 10_000;
const MAX_WATCHERS = 16;
const MAX_ENVELOPES = 2_000;

/**
 * - `machines`    the drawings of all machines, as JSON.
 * - `isOpen`      whether callers that prove nothing may watch: where nobody has to, and only this machine can reach it.
 */
export interface WatchPartDeps {
  readonly system: WatchedSystem;
  readonly seams: Seams;
  readonly about: Pick<WatchState, 'node' | 'name' | 'orrery'>;
  readonly options: ParsedWatchOptions;
  readonly machines: () => Promise<readonly MachineDrawing[]>;
  readonly isOpen: boolean;
}

/** The page, and what it shows: routes for operators. */
export function watchPart(deps: WatchPartDeps): GatewayPart {
  const { system, seams, about, options } = deps;
  const feed = new WatchFeed({ system, seams, about, options, fetch: globalThis.fetch });
  const routes = new WatchRoutes(deps, feed);
  return {
    name: 'watch',
    routes: [
      { method: 'GET', path: '/', serves: 'the visualiser' },
      { method: 'GET', path: '/visualiser/*', serves: 'its files' },
      { method: 'GET', path: '/watch/state', serves: 'what is going on now' },
      { method: 'GET', path: '/watch/events', serves: 'what happens, as server-sent events' },
      { method: 'GET', path: '/watch/machines', serves: 'the state machines, to be drawn' },
      {
        method: 'GET',
        path: '/watch/conversations/:id',
        serves: 'the envelopes of a conversation, redacted',
      },
      { method: 'POST', path: '/watch/dead-letters/:id/replay', serves: 'sends a dead letter again' },
    ],
    mount: (app, edge) => {
      edge.closing.addEventListener('abort', () => feed.close(), { once: true });
      const guarded =
        (answer: (context: RouteContext) => Promise<Response>) =>
        async (context: RouteContext): Promise<Response> => {
          await routes.requireOperator(context.req.raw, edge);
          return answer(context);
        };
      app.get('/', () => routes.file('index.html'));
      app.get('/visualiser/*', ({ req }) => routes.file(fileNameOf(req.raw)));
      app.get(
        '/watch/state',
        guarded(async ({ json }) => json(await feed.state({ withRecent: true }))),
      );
      app.get(
        '/watch/events',
        guarded(async () => routes.events(edge)),
      );
      app.get(
        '/watch/machines',
        guarded(async ({ json }) => json({ machines: await deps.machines() })),
      );
      app.get(
        '/watch/conversations/:id',
        guarded(async ({ req, json }) => json(await routes.conversation(req.param('id') ?? ''))),
      );
      app.post(
        '/watch/dead-letters/:id/replay',
        guarded(async ({ req }) => {
          routes.requireUnlocked(req.raw);
          return routes.replay(req.param('id') ?? '');
        }),
      );
    },
    close: async () => feed.close(),
  };
}

const PAGE_PREFIX = '/visualiser/';

const fileNameOf = ({ url }: Request): string => new URL(url).pathname.slice(PAGE_PREFIX.length);

class WatchRoutes {
  readonly #deps: WatchPartDeps;
  readonly #feed: WatchFeed;

  constructor(deps: WatchPartDeps, feed: WatchFeed) {
    this.#deps = deps;
    this.#feed = feed;
  }

  /** Rejects with UNAUTHENTICATED or NOT_PERMITTED for whoever may not watch. */
  async requireOperator({ method, url, headers }: Request, edge: Edge): Promise<void> {
    const principal = await edge.admit({ method, url, headers, body: new Uint8Array() });
    if (this.#mayWatch(principal)) return;
    if (principal.kind === 'anonymous') throw unauthenticated('what happens here is for its operators');
    throw notPermitted(`${principal.id} has not the role "${OPERATOR}"`);
  }

  /** Throws NOT_PERMITTED for whoever has not the token with which watchers may act. */
  requireUnlocked({ headers }: Request): void {
    const { unlockToken } = this.#deps.options;
    if (unlockToken === undefined)
      throw notPermitted('nobody may act from here: it was not unlocked when it was started');
    if (!isSame(headers.get(UNLOCK_HEADER) ?? '', unlockToken))
      throw notPermitted(`${UNLOCK_HEADER} is not the token that unlocks`);
  }

  async events({ seams, closing }: Edge): Promise<Response> {
    if (closing.aborted || this.#feed.watchers >= MAX_WATCHERS)
      throw notPermitted(`at most ${MAX_WATCHERS} may watch at a time`);
    const watcher = await this.#feed.watch();
    let id = 0;
    return responseOf(
      sseAnswer({
        items: watcher,
        write: ({ event, data }) => ({ id: id++, event, data }),
        writeError: () => ({ event: 'error', data: null }),
        clock: seams.clock,
        heartbeatMs: HEARTBEAT_MS,
        onEnd: () => watcher.close(),
      }),
    );
  }

  async conversation(correlationId: string): Promise<{ readonly envelopes: JsonValue }> {
    const envelopes = await this.#deps.system.thread(correlationId);
    return {
      envelopes: envelopes.slice(0, MAX_ENVELOPES).map(({ payload, metadata, ...envelope }) => ({
        ...(envelope as { readonly [name: string]: JsonValue }),
        payload: redacted(payload),
        metadata: redacted(metadata ?? {}),
      })),
    };
  }

  async replay(id: string): Promise<Response> {
    const { system, seams } = this.#deps;
    try {
      const envelopeId = await replay(system, id, seams);
      return Response.json({ accepted: true, envelopeId });
    } catch (error) {
      if (isOrreryError(error) && error.code === 'REFUSED') return jsonError(409, error.code, error.message);
      throw error;
    }
  }

  async file(name: string): Promise<Response> {
    const { page } = this.#deps.options;
    const file = page && (await pageFile(page, name));
    if (file === undefined) return missing(name);
    return fileResponse(file, name);
  }

  #mayWatch(principal: Principal): boolean {
    const { options, isOpen } = this.#deps;
    if (options.mayWatch !== undefined) return options.mayWatch(principal);
    return principal.kind === 'anonymous' ? isOpen : principal.roles.includes(OPERATOR);
  }
}

const fileResponse = ({ bytes, type }: PageFile, name: string): Response =>
  new Response(bytes, {
    headers: {
      'content-type': type,
      'content-security-policy': PAGE_POLICY,
      // Names of assets say what is in them; the page itself may be another one tomorrow.
      'cache-control': name === 'index.html' ? 'no-cache' : 'max-age=31536000, immutable',
    },
  });

const missing = (name: string): Response =>
  new Response(
    name === 'index.html'
      ? 'The visualiser is not built here: npm run build:page builds it\n'
      : 'There is no such file\n',
    { status: 404, headers: { 'content-type': 'text/plain; charset=utf-8' } },
  );

/** Takes as long for every wrong token. */
const isSame = (given: string, token: string): boolean => timingSafeEqual(hashOf(given), hashOf(token));

const hashOf = (text: string): Uint8Array => createHash('sha256').update(text).digest();
