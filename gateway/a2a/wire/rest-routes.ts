import type { Json } from './json.ts';
import type { OperationName } from './operations.ts';

/**
 * One path of a REST binding, such as `/tasks/{taskId}:cancel`: what stands in braces is a parameter of that name.
 *
 * - `query` the query parameters that it has, by kind; others are not looked at.
 */
export interface RestRoute {
  readonly method: 'GET' | 'POST' | 'DELETE';
  readonly path: string;
  readonly operation: OperationName;
  readonly query?: Readonly<Record<string, 'text' | 'number' | 'boolean'>>;
}

/** `agentId`: what stands before the path, undefined when it begins the URL. */
export interface RestMatch {
  readonly route: RestRoute;
  readonly agentId: string | undefined;
  readonly variables: Readonly<Record<string, string>>;
}

interface CompiledRoute {
  readonly route: RestRoute;
  readonly pattern: RegExp;
}

/** Finds the route of a method and a path, which may have an agent's id in front. A path without comes first. */
export function restRouter(
  routes: readonly RestRoute[],
): (method: string, path: string) => RestMatch | undefined {
  const compiled = routes.map((route) => ({ route, pattern: patternOf(route.path) }));
  return (method, path) => {
    const wanted = method === 'HEAD' ? 'GET' : method;
    const plain = find(compiled, wanted, path, undefined);
    if (plain !== undefined) return plain;
    const [, prefix, rest] = /^\/([^/]+)(\/.*)$/.exec(path) ?? [];
    const agentId = prefix === undefined ? undefined : decoded(prefix);
    return agentId === undefined || rest === undefined ? undefined : find(compiled, wanted, rest, agentId);
  };
}

function find(
  compiled: readonly CompiledRoute[],
  method: string,
  path: string,
  agentId: string | undefined,
): RestMatch | undefined {
  for (const { route, pattern } of compiled) {
    const groups = route.method === method ? pattern.exec(path) : null;
    if (groups === null) continue;
    const variables = Object.entries(groups.groups ?? {}).map(([name, text]) => [name, decoded(text)]);
    if (variables.every(([, value]) => value !== undefined))
      return { route, agentId, variables: Object.fromEntries(variables) as Record<string, string> };
  }
  return undefined;
}

/** A variable holds no slash, and no colon where a verb follows it: `/tasks/a:cancel` is the task `a`. */
function patternOf(path: string): RegExp {
  const source = path
    .replace(/[.*+?^$()|[\]\\]/g, '\\$&')
    .replace(/\{(\w+)\}/g, (_whole, name: string) => `(?<${name}>[^/]+?)`);
  return new RegExp(`^${source}$`);
}

function decoded(text: string): string | undefined {
  try {
    return decodeURIComponent(text);
  } catch {
    return undefined;
  }
}

/** The path as hono has it: `/tasks/{taskId}:cancel` is `/tasks/:taskId{[^/]+:cancel}`. */
export const honoPathOf = (path: string): string =>
  path.replace(/\{(\w+)\}(:\w+)?/g, (_whole, name: string, verb = '') => `:${name}{[^/]+${verb}}`);

/** `fields`: those that the path does not name. They stand in the query of a GET, else in the body. */
export interface RestRequest {
  readonly method: RestRoute['method'];
  readonly path: string;
  readonly fields: { readonly [key: string]: Json };
}

/** The request of an operation, by the first route that it has; undefined where it has none. */
export function restRequest(
  routes: readonly RestRoute[],
  operation: OperationName,
  params: { readonly [key: string]: Json },
): RestRequest | undefined {
  const route = routes.find((one) => one.operation === operation);
  if (route === undefined) return undefined;
  const fields = { ...params };
  const path = route.path.replace(/\{(\w+)\}/g, (_whole, name: string) => {
    const value = fields[name];
    delete fields[name];
    return encodeURIComponent(String(value));
  });
  if (route.method !== 'GET') return { method: route.method, path, fields };
  const query = new URLSearchParams(Object.entries(fields).map(([name, value]) => [name, String(value)]));
  return { method: route.method, path: query.size === 0 ? path : `${path}?${query}`, fields };
}
