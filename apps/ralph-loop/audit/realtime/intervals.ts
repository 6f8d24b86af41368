import { isFunction } from '../syntax/function.ts';
import type { Node, NodeOf } from '../syntax/node.ts';
import { referenceOf } from '../syntax/reference.ts';
import type { Scope } from '../syntax/scopes.ts';
import { listenCall } from './event-calls.ts';

/** Events and parameters of functions that run once for every client. */
const PER_CLIENT_EVENT = /^(connection|connect|open|request|upgrade|stream|session|join|subscribe)$/;
const PER_CLIENT_NAME = /^(ws|socket|conn|connection|client|req|res|request|response|stream|peer)$/;

/**
 * Whether a statement starts an interval that nobody can end, though what it is for comes and goes: in a method or a
 * constructor, or in a function that runs for every client. One that runs as long as the program needs no handle.
 */
export function dropsInterval(
  { expression }: NodeOf<'ExpressionStatement'>,
  scope: Scope,
  ancestors: readonly Node[],
  text: string,
): boolean {
  if (
    expression.type !== 'CallExpression' ||
    referenceOf(expression.callee, scope) !== 'global:setInterval'
  ) {
    return false;
  }
  if (/process\.exit|\bclose\(\)/.test(text.slice(expression.start, expression.end))) return false;
  const at = ancestors.findLastIndex(isFunction);
  const around = ancestors[at];
  const [above, holder] = [ancestors[at - 1], ancestors[at - 2]];
  if (around === undefined || !isFunction(around) || above === undefined) return false;
  if (above.type === 'MethodDefinition') return !above.static;
  if (
    around.params.some((parameter) => parameter.type === 'Identifier' && PER_CLIENT_NAME.test(parameter.name))
  ) {
    return true;
  }
  const listen = listenCall(above);
  return holder !== undefined && listen?.listener === around && PER_CLIENT_EVENT.test(listen.event ?? '');
}
