import { requestOf } from './integrations/requests.ts';
import type { Node } from './syntax/node.ts';
import { referenceOf } from './syntax/reference.ts';
import type { Scope } from './syntax/scopes.ts';

/** Clients about whose arguments no job asks anything. */
const OTHER_CLIENTS =
  /^(?:(?:got|ky|superagent|needle):(?:\*|request|get|post|put|patch|delete|head|options)|undici:(?:request|stream))$/;

/** Whether a node is a call that surely goes over the network. */
export function isNetworkCall(node: Node, scope: Scope): boolean {
  if (node.type !== 'CallExpression') return false;
  return requestOf(node, scope) !== undefined || OTHER_CLIENTS.test(referenceOf(node.callee, scope) ?? '');
}
