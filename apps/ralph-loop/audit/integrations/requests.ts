import { knownStart } from '../syntax/known-start.ts';
import { type Node, type NodeOf, unwrapped } from '../syntax/node.ts';
import { heldValue, referenceOf } from '../syntax/reference.ts';
import type { Scope } from '../syntax/scopes.ts';

/**
 * A call that goes to another service.
 *
 * - `url`      undefined when it is part of the options.
 * - `options`  undefined when none are given.
 */
export interface Request {
  readonly client: 'fetch' | 'axios' | 'http';
  readonly url: Node | undefined;
  readonly options: Node | undefined;
}

const FETCHES = new Set([
  'global:fetch',
  'undici:fetch',
  'node-fetch:*',
  'node-fetch:fetch',
  'cross-fetch:*',
  'cross-fetch:fetch',
  'isomorphic-fetch:*',
]);
const AXIOS = /^axios:(\*|request|get|delete|head|options|post|put|patch)$/;
const AXIOS_WITH_BODY = /:(post|put|patch)$/;
const HTTP = /^https?:(get|request)$/;

/** The request that a call makes, as far as it is surely one. */
export function requestOf(node: Node, scope: Scope): Request | undefined {
  if (node.type !== 'CallExpression') return undefined;
  const called = referenceOf(node.callee, scope);
  if (called === undefined) return undefined;
  const [first, second, third] = node.arguments;
  if (FETCHES.has(called)) return first && { client: 'fetch', url: first, options: second };
  if (AXIOS.test(called)) return axiosRequest(called, [first, second, third]);
  if (!HTTP.test(called) || first === undefined) return undefined;
  const given = heldValue(first, scope);
  if (given.type === 'ObjectExpression') return { client: 'http', url: undefined, options: given };
  const isFunction = second === undefined || unwrapped(second).type.endsWith('FunctionExpression');
  return { client: 'http', url: first, options: isFunction ? undefined : second };
}

function axiosRequest(called: string, [first, second, third]: (Node | undefined)[]): Request | undefined {
  if (first === undefined) return undefined;
  const isByConfig = called === 'axios:request' || unwrapped(first).type === 'ObjectExpression';
  if (isByConfig) return { client: 'axios', url: undefined, options: first };
  return { client: 'axios', url: first, options: AXIOS_WITH_BODY.test(called) ? third : second };
}

const LIKE_A_URL = /(ur[il]|href|endpoint|webhook)s?$/i;

/**
 * Whether a request surely goes to a service elsewhere: not to the page's own origin, this machine, or a file.
 *
 * What is not written out counts when its name says that it is a URL; it could be a `Request`, which has its own signal.
 */
export function goesElsewhere(url: Node, scope: Scope): boolean {
  const start = knownStart(url, scope);
  if (start !== undefined) return /^(https?|wss?):\/\//i.test(start.text);
  const node = unwrapped(url);
  if (node.type === 'Identifier') return LIKE_A_URL.test(node.name);
  if (node.type === 'MemberExpression') {
    return node.property.type === 'Identifier' && LIKE_A_URL.test(node.property.name);
  }
  if (node.type === 'TemplateLiteral') {
    const [first] = node.expressions;
    return node.quasis[0]?.value.raw === '' && first !== undefined && goesElsewhere(first, scope);
  }
  return node.type === 'BinaryExpression' && node.operator === '+' && goesElsewhere(node.left, scope);
}

/** Whether options are written out and have none of `names`; nothing is known of what others hold. */
export function lacks(options: Node | undefined, names: readonly string[], scope: Scope): boolean {
  if (options === undefined) return true;
  const held = heldValue(options, scope);
  return held.type === 'ObjectExpression' && held.properties.every((property) => isOther(property, names));
}

function isOther(
  property: NodeOf<'ObjectExpression'>['properties'][number],
  names: readonly string[],
): boolean {
  if (property.type === 'SpreadElement' || property.computed) return false;
  const { key } = property;
  const name = key.type === 'Identifier' ? key.name : key.type === 'Literal' ? String(key.value) : '';
  return !names.includes(name);
}
