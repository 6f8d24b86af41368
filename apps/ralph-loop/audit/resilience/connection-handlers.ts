import { keyName, type Node, type NodeOf } from '../syntax/node.ts';
import { heldValue, referenceOf } from '../syntax/reference.ts';
import type { Scope } from '../syntax/scopes.ts';
import { LISTENS } from './emitter.ts';

/** Servers that hand every connection to a function. */
const SERVERS = new Set(['net:createServer', 'tls:createServer', 'ws:WebSocketServer', 'ws:Server']);
const CONNECTION = new Set(['connection', 'secureConnection']);

/** Whether `handler`, an argument of `call`, is what a server calls with each connection. */
export function handsConnections(call: NodeOf<'CallExpression'>, handler: Node, scope: Scope): boolean {
  const called = referenceOf(call.callee, scope);
  if (called !== undefined && SERVERS.has(called)) return call.arguments.includes(handler as never);
  const { callee } = call;
  if (callee.type !== 'MemberExpression' || !LISTENS.has(keyName(callee.property, callee.computed) ?? ''))
    return false;
  const [event] = call.arguments;
  if (event?.type !== 'Literal' || !CONNECTION.has(String(event.value))) return false;
  const server = heldValue(callee.object, scope);
  if (server.type !== 'CallExpression' && server.type !== 'NewExpression') return false;
  return SERVERS.has(referenceOf(server.callee, scope) ?? '');
}
