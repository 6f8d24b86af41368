import { isNetworkCall } from '../network-calls.ts';
import { isFunction } from '../syntax/function.ts';
import { keyName, type Node, type NodeOf, unwrapped } from '../syntax/node.ts';
import { someOwn } from '../syntax/own-nodes.ts';
import { heldValue, referenceOf } from '../syntax/reference.ts';
import type { Scope } from '../syntax/scopes.ts';

const GATHERS = new Set(['global:Promise.all', 'global:Promise.allSettled']);
/** What somebody has already cut into pieces. */
const PIECE = /batch|chunk|page|slice|window|group/i;

/** Whether a call starts a network request for every item of a list of any length: `Promise.all(items.map(fetch…))`. */
export function isUnboundedFanOut(call: NodeOf<'CallExpression'>, scope: Scope): boolean {
  const called = referenceOf(call.callee, scope);
  if (called === undefined || !GATHERS.has(called)) return false;
  const [given] = call.arguments;
  if (given === undefined) return false;
  const mapped = heldValue(given, scope);
  if (mapped.type !== 'CallExpression') return false;
  const method = unwrapped(mapped.callee);
  if (method.type !== 'MemberExpression' || keyName(method.property, method.computed) !== 'map') return false;
  const [each] = mapped.arguments;
  return each !== undefined && isOpenEnded(method.object, scope) && requests(each, scope);
}

function requests(each: Node, scope: Scope): boolean {
  const callback = heldValue(each, scope);
  if (isFunction(callback)) {
    return callback.body !== null && someOwn(callback.body, (node) => isNetworkCall(node, scope));
  }
  return referenceOf(callback, scope) === 'global:fetch';
}

/** Whether nothing says how long the list is. */
function isOpenEnded(list: Node, scope: Scope): boolean {
  const node = heldValue(list, scope);
  if (node.type === 'ArrayExpression') return node.elements.some((one) => one?.type === 'SpreadElement');
  const names = [list, node].map(lastName);
  return !names.some((name) => PIECE.test(name) || CUTS.has(name) || /^[A-Z][A-Z0-9_]*$/.test(name));
}
const CUTS = new Set(['slice', 'splice', 'fill', 'values', 'keys', 'entries']);

function lastName(expression: Node): string {
  const node = unwrapped(expression);
  if (node.type === 'Identifier') return node.name;
  if (node.type === 'MemberExpression') return keyName(node.property, node.computed) ?? '';
  return node.type === 'CallExpression' ? lastName(node.callee) : '';
}
