import type { Hono } from 'hono';

const METHODS = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'];

/** The pattern of the handler that a request is for; undefined without one, or when that takes every path. */
export const routeOf = (app: Hono, request: Request): string | undefined =>
  patternOf(app, request.method === 'HEAD' ? 'GET' : request.method, app.getPath(request));

/** By which methods there is something under a request's path. */
export function methodsFor(app: Hono, request: Request): string[] {
  const path = app.getPath(request);
  const methods = METHODS.filter((method) => patternOf(app, method, path) !== undefined);
  return methods.includes('GET') ? ['HEAD', ...methods] : methods;
}

/** What was found before, by method and path: most callers ask for few paths over and over. */
const found = new WeakMap<Hono, Map<string, string | undefined>>();
const MOST_FOUND = 1_000;

function patternOf(app: Hono, method: string, path: string): string | undefined {
  const known = found.get(app) ?? new Map<string, string | undefined>();
  const key = `${method} ${path}`;
  if (known.has(key)) return known.get(key);
  const pattern = patternIn(app, method, path);
  if (known.size >= MOST_FOUND) known.clear();
  known.set(key, pattern);
  found.set(app, known);
  return pattern;
}

function patternIn(app: Hono, method: string, path: string): string | undefined {
  const [handlers] = app.router.match(method, path);
  for (let at = handlers.length - 1; at >= 0; at--) {
    const [[, route]] = handlers[at] as (typeof handlers)[number];
    if (route.path !== '*' && route.path !== '/*') return route.path;
  }
  return undefined;
}
