import type { Hono } from 'hono';
import { type Answer, responseOf } from './answer.ts';
import type { RouteHandler, Routes } from './gateway-part.ts';
import type { EdgeCall } from './edge-call.ts';

const METHODS = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'];

/**
 * What a request is for.
 *
 * - `pattern` of its handler; undefined without one, or when that takes every path.
 * - `direct`  answers it without a `Request`, where that is so.
 */
export interface FoundRoute {
  readonly pattern: string | undefined;
  readonly direct: { readonly answer: Answerer; readonly param: string | undefined } | undefined;
}

/** The route of a request. */
export const routeOf = (app: Hono, request: Request): FoundRoute =>
  routeAt(app, request.method === 'HEAD' ? 'GET' : request.method, app.getPath(request));

/** The methods that a request's path has handlers for. */
export function methodsFor(app: Hono, request: Request): string[] {
  const path = app.getPath(request);
  const methods = METHODS.filter((method) => routeAt(app, method, path).pattern !== undefined);
  return methods.includes('GET') ? ['HEAD', ...methods] : methods;
}

/** Routes found before, by method and path: most callers ask for few paths. */
const found = new WeakMap<Hono, Map<string, FoundRoute>>();
const MOST_FOUND = 1_000;

/** `path` as it stands in a URL. */
export function routeAt(app: Hono, method: string, path: string): FoundRoute {
  const known = found.get(app) ?? new Map<string, FoundRoute>();
  found.set(app, known);
  const key = `${method} ${path}`;
  const former = known.get(key);
  if (former !== undefined) return former;
  const route = lookUp(app, method, path);
  if (known.size >= MOST_FOUND) known.clear();
  known.set(key, route);
  return route;
}

function lookUp(app: Hono, method: string, path: string): FoundRoute {
  const [handlers] = app.router.match(method, path);
  const routes = handlers.map(([[, route]]) => route);
  const pattern = routes.findLast((route) => route.path !== '*' && route.path !== '/*')?.path;
  // Another handler comes first for this path: it answers.
  const [first] = routes;
  const answer = first === undefined ? undefined : answererOf(first.handler);
  if (first === undefined || answer === undefined) return { pattern, direct: undefined };
  return { pattern, direct: { answer, param: paramIn(first.path, path) } };
}

/** Answers a call; `param` as its path names it, where the route's pattern has a part that is open. Never rejects. */
export type Answerer = (call: EdgeCall, param: string | undefined) => Promise<Answer>;

const answerers = new WeakMap<object, Answerer>();

/**
 * Serves a route of an app without making a `Request` and a `Response` of what comes and goes, which costs as much as most
 * answers do: for whoever knows how to do without. All others get them.
 */
export function answerDirectly(app: Routes, method: string, pattern: string, answerer: Answerer): void {
  const name = openPartOf(pattern);
  const handler: RouteHandler = async ({ req }) =>
    responseOf(await answerer(req.raw, name === undefined ? undefined : req.param(name)));
  answerers.set(handler, answerer);
  app.on(method, pattern, handler);
}

/** How a handler of an app answers a call directly; undefined where it needs a `Request`. */
const answererOf = (handler: object): Answerer | undefined => answerers.get(handler);

/** The value of the pattern's parameter in a path. */
function paramIn(pattern: string, path: string): string | undefined {
  const at = pattern.split('/').findIndex((part) => part.startsWith(':'));
  return at === -1 ? undefined : path.split('/')[at];
}

const openPartOf = (pattern: string): string | undefined => /:(\w+)/.exec(pattern)?.[1];
