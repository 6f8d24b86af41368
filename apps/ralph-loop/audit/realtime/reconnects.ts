import { calledName } from '../syntax/called-name.ts';
import { type FunctionNode, isFunction } from '../syntax/function.ts';
import { keyName, type Node, unwrapped } from '../syntax/node.ts';
import { ownNodes, someOwn } from '../syntax/own-nodes.ts';
import { referenceOf } from '../syntax/reference.ts';
import type { Scope } from '../syntax/scopes.ts';
import { listenAssignment, listenCall } from './event-calls.ts';

const OPENS = new Set(['global:WebSocket', 'global:EventSource', 'ws:*', 'ws:WebSocket']);

/**
 * Where a connection that was closed is opened again at once: the listener of `close`, in the function that opens it,
 * calls that function. Listeners that wait for something, or count, are left alone.
 */
export function reconnectsAtOnce(
  opener: FunctionNode,
  scope: Scope,
  ancestors: readonly Node[],
): Node | undefined {
  const name = nameOf(opener, ancestors.at(-1));
  if (name === undefined || opener.body === null) return undefined;
  const opens = (node: Node): boolean =>
    node.type === 'NewExpression' && OPENS.has(referenceOf(node.callee, scope) ?? '');
  if (!someOwn(opener.body, opens)) return undefined;
  for (const node of ownNodes(opener.body)) {
    const listened = node.type === 'AssignmentExpression' ? listenAssignment(node) : listenCall(node);
    const listener = listened?.event === 'close' ? listened.listener : undefined;
    if (listener !== undefined && callsAtOnce(listener, name)) return node;
  }
  return undefined;
}

function callsAtOnce(listener: Node, name: string): boolean {
  if (!isFunction(listener)) return namedAs(listener, name);
  if (listener.body === null || someOwn(listener.body, waitsOrCounts)) return false;
  return someOwn(
    listener.body,
    (node) => node.type === 'CallExpression' && namedAs(unwrapped(node.callee), name),
  );
}

/** `connect` and `this.connect`. */
const namedAs = (node: Node, name: string): boolean =>
  (node.type === 'Identifier' && node.name === name) ||
  (node.type === 'MemberExpression' && node.object.type === 'ThisExpression' && calledName(node) === name);

const waitsOrCounts = (node: Node): boolean =>
  node.type === 'AwaitExpression' ||
  node.type === 'UpdateExpression' ||
  (node.type === 'BinaryExpression' && ['<', '>', '<=', '>='].includes(node.operator));

function nameOf(opener: FunctionNode, above: Node | undefined): string | undefined {
  if (opener.type !== 'ArrowFunctionExpression' && opener.id !== null) return opener.id.name;
  if (above?.type === 'VariableDeclarator' && above.id.type === 'Identifier') return above.id.name;
  if (above?.type === 'MethodDefinition' || above?.type === 'PropertyDefinition')
    return keyName(above.key, above.computed);
  return undefined;
}
