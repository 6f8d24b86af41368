import { type Answer, responseOf } from './answer.ts';
import type { EdgeCall } from './edge-call.ts';
import type { RouteHandler, Routes } from './gateway-part.ts';

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
export const answererOf = (handler: object): Answerer | undefined => answerers.get(handler);

/** What stands in a path for the part of the pattern that is open. */
export function paramIn(pattern: string, path: string): string | undefined {
  const at = pattern.split('/').findIndex((part) => part.startsWith(':'));
  return at === -1 ? undefined : path.split('/')[at];
}

const openPartOf = (pattern: string): string | undefined => /:(\w+)/.exec(pattern)?.[1];
