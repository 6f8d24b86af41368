import type { Defect } from '../evidence.ts';
import { functionAround, isFunction } from '../syntax/function.ts';
import { knownStart } from '../syntax/known-start.ts';
import { childrenOf, keyName, type Node, type NodeOf, unwrapped } from '../syntax/node.ts';
import type { Scope } from '../syntax/scopes.ts';
import { requestOf } from './requests.ts';

const READS = new Set(['json', 'text', 'blob', 'arrayBuffer', 'bytes', 'formData']);

/** All of a function is looked through for each response in it; longer ones are no function that anybody wrote. */
const MAX_LOOKED_THROUGH = 10_000;

/** Responses of `fetch` whose body is read by code that never asks how the request went. */
export function checkResponse(node: Node, scope: Scope, ancestors: readonly Node[]): Defect | undefined {
  const read = readUnchecked(node, scope, ancestors);
  return read && { rule: 'integrations.unchecked-response', offset: read.start };
}

/** The name of the first method that reads such a body. */
function readUnchecked(node: Node, scope: Scope, ancestors: readonly Node[]): Node | undefined {
  // const response = await fetch(url); … response.json()
  if (node.type === 'VariableDeclarator') {
    const { id, init } = node;
    if (id.type !== 'Identifier' || init === null || !isAwaitedFetch(init, scope)) return undefined;
    const around = functionAround(ancestors)?.body ?? ancestors[0];
    if (around === undefined || around.end - around.start > MAX_LOOKED_THROUGH) return undefined;
    return onlyReads(around, id);
  }
  if (node.type !== 'CallExpression') return undefined;
  const callee = unwrapped(node.callee);
  if (callee.type !== 'MemberExpression') return undefined;
  const method = keyName(callee.property, callee.computed) ?? '';
  // (await fetch(url)).json()
  if (READS.has(method)) return isAwaitedFetch(callee.object, scope) ? callee.property : undefined;
  // fetch(url).then((response) => response.json())
  const [handler] = node.arguments;
  if (method !== 'then' || handler === undefined || !isFetch(callee.object, scope)) return undefined;
  const taken = unwrapped(handler);
  if (!isFunction(taken) || taken.body === null) return undefined;
  const [response] = taken.params;
  return response?.type === 'Identifier' ? onlyReads(taken.body, response) : undefined;
}

function isFetch(expression: Node, scope: Scope): boolean {
  const request = requestOf(unwrapped(expression), scope);
  if (request?.client !== 'fetch' || request.url === undefined) return false;
  const start = knownStart(request.url, scope);
  // data:, blob: and file: have no status; of `new URL('./module.wasm', import.meta.url)` nothing is known.
  if (start === undefined) return unwrapped(request.url).type !== 'NewExpression';
  return !/^(?!https?:)[a-z][a-z0-9+.-]*:/i.test(start.text);
}

function isAwaitedFetch(expression: Node, scope: Scope): boolean {
  const node = unwrapped(expression);
  return node.type === 'AwaitExpression' && isFetch(node.argument, scope);
}

/** The first reading of `name` in `body` if reading its content is all that is done with it there. */
function onlyReads(body: Node, name: NodeOf<'Identifier'> | Node): Node | undefined {
  if (name.type !== 'Identifier') return undefined;
  const reads: Node[] = [];
  const isOnlyRead = (node: Node): boolean => {
    if (node === name) return true;
    if (node.type === 'Identifier' && node.name === name.name) return false;
    const read = readOf(node, name.name);
    if (read === undefined) return [...childrenOf(node)].every(isOnlyRead);
    reads.push(read);
    return node.type === 'CallExpression' && node.arguments.every(isOnlyRead);
  };
  return isOnlyRead(body) ? reads[0] : undefined;
}

/** `json` of `response.json()`. */
function readOf(node: Node, name: string): Node | undefined {
  if (node.type !== 'CallExpression') return undefined;
  const callee = unwrapped(node.callee);
  if (callee.type !== 'MemberExpression' || callee.object.type !== 'Identifier') return undefined;
  if (callee.object.name !== name || !READS.has(keyName(callee.property, callee.computed) ?? ''))
    return undefined;
  return callee.property;
}
