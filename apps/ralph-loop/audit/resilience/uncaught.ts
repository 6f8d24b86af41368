import { isFunction } from '../syntax/function.ts';
import type { NodeOf } from '../syntax/node.ts';
import { ownNodes } from '../syntax/own-nodes.ts';
import { heldValue, referenceOf } from '../syntax/reference.ts';
import type { Scope } from '../syntax/scopes.ts';

const SUBSCRIBES = new Set([
  'global:process.on',
  'global:process.addListener',
  'process:on',
  'process:addListener',
]);
const LOGS = /^(?:global:console\.\w+|(?:global:|\w*:)?(?:log|logger|logging)\.\w+)$/;

/** Whether a call makes the process survive what nobody caught: a handler of `uncaughtException` that only tells. */
export function survivesUncaught(call: NodeOf<'CallExpression'>, scope: Scope): boolean {
  const called = referenceOf(call.callee, scope);
  if (called === undefined || !SUBSCRIBES.has(called)) return false;
  const [event, handler] = call.arguments;
  if (event?.type !== 'Literal' || event.value !== 'uncaughtException' || handler === undefined) return false;
  const given = heldValue(handler, scope);
  if (!isFunction(given) || given.body === null) return false;
  return [...ownNodes(given.body)].every((node) => {
    if (ACTS.has(node.type)) return false;
    return node.type !== 'CallExpression' || LOGS.test(referenceOf(node.callee, scope) ?? '');
  });
}

/** What else than telling a handler may do, such as setting `process.exitCode`. */
const ACTS = new Set([
  'ThrowStatement',
  'AssignmentExpression',
  'AwaitExpression',
  'NewExpression',
  'UpdateExpression',
]);
