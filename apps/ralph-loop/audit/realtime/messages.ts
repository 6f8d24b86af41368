import { type FunctionNode, isFunction } from '../syntax/function.ts';
import { childrenOf, type Node, unwrapped } from '../syntax/node.ts';
import { ownNodes } from '../syntax/own-nodes.ts';
import { heldValue, referenceOf } from '../syntax/reference.ts';
import type { Scope } from '../syntax/scopes.ts';
import { listenCall } from './event-calls.ts';

const SERVERS = new Set(['ws:WebSocketServer', 'ws:Server']);

/**
 * Where a WebSocket server parses what a client sent with nothing to catch the error: thrown in a listener, it ends the
 * process. `call` is `server.on('connection', (socket) => …)`.
 */
export function unguardedParsing(call: Node, scope: Scope): Node[] {
  const connection = listenCall(call);
  if (connection?.event !== 'connection' || !isServer(connection.target, scope)) return [];
  const { listener } = connection;
  if (listener === undefined || !isFunction(listener) || listener.body === null) return [];
  const [socket] = listener.params;
  if (socket?.type !== 'Identifier') return [];
  const found: Node[] = [];
  for (const node of ownNodes(listener.body)) {
    const message = listenCall(node);
    if (message?.event !== 'message' || message.listener === undefined) continue;
    if (message.target.type !== 'Identifier' || message.target.name !== socket.name) continue;
    if (isFunction(message.listener)) found.push(...parsedIn(message.listener, scope));
  }
  return found;
}

function isServer(target: Node, scope: Scope): boolean {
  const made = heldValue(target, scope);
  return made.type === 'NewExpression' && SERVERS.has(referenceOf(made.callee, scope) ?? '');
}

/** `JSON.parse` in the listener itself, of its own parameter, outside `try`. */
function parsedIn(listener: FunctionNode, scope: Scope): Node[] {
  const [parameter] = listener.params;
  if (parameter?.type !== 'Identifier' || listener.body === null) return [];
  const isCaught = (node: Node): boolean => node.type === 'TryStatement' && node.handler !== null;
  return [...ownNodes(listener.body, isCaught)].filter((node) => {
    if (node.type !== 'CallExpression' || referenceOf(node.callee, scope) !== 'global:JSON.parse')
      return false;
    const [text] = node.arguments;
    return text !== undefined && mentions(unwrapped(text), parameter.name);
  });
}

const mentions = (node: Node, name: string): boolean =>
  (node.type === 'Identifier' && node.name === name) ||
  [...childrenOf(node)].some((child) => mentions(child, name));
