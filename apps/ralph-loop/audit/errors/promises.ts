import type { Defect } from '../evidence.ts';
import type { SourceText } from '../../findings/source-text.ts';
import { isExplained } from '../syntax/explained.ts';
import { isFunction } from '../syntax/function.ts';
import { keyName, type Node, type NodeOf, unwrapped } from '../syntax/node.ts';
import { referenceOf } from '../syntax/reference.ts';
import type { Scope } from '../syntax/scopes.ts';
import { isBestEffort } from './best-effort.ts';
import { saysNothing, saysWhat } from './thrown.ts';

type Call = NodeOf<'CallExpression'>;

/** A promise's `reject`: the name it has, and the scope of the executor that is given it. */
export interface Rejecter {
  readonly name: string;
  readonly scope: Scope;
}

/** `promise.catch(() => {})` as a statement: nobody hears of the failure. */
export function checkCatchCall(
  call: Call,
  ancestors: readonly Node[],
  source: SourceText,
): Defect | undefined {
  const callee = unwrapped(call.callee);
  if (callee.type !== 'MemberExpression' || keyName(callee.property, callee.computed) !== 'catch')
    return undefined;
  const [handler, ...rest] = call.arguments;
  if (handler === undefined || rest.length > 0 || !doesNothing(handler)) return undefined;
  // What is held by a name is awaited elsewhere; this only keeps it from being reported as unhandled meanwhile.
  const promise = unwrapped(callee.object);
  const statement = statementOf(ancestors);
  if (promise.type !== 'CallExpression' || isBestEffort(promise) || statement === undefined) return undefined;
  if (isExplained(source, statement)) return undefined;
  return { rule: 'errors.swallowed-rejection', offset: callee.property.start };
}

function doesNothing(handler: Node): boolean {
  const node = unwrapped(handler);
  if (node.type === 'Identifier') return node.name === 'noop';
  if (!isFunction(node) || node.body === null) return false;
  if (node.body.type === 'BlockStatement') return node.body.body.length === 0;
  const body = unwrapped(node.body as Node);
  return (
    (body.type === 'Identifier' && body.name === 'undefined') ||
    (body.type === 'Literal' && body.value === null) ||
    (body.type === 'UnaryExpression' && body.operator === 'void')
  );
}

/** The statement that consists of this expression, awaited or `void`ed perhaps; undefined when its value is used. */
function statementOf(ancestors: readonly Node[]): Node | undefined {
  const around = ancestors.findLast(
    ({ type }) => type !== 'AwaitExpression' && type !== 'UnaryExpression' && type !== 'ChainExpression',
  );
  return around?.type === 'ExpressionStatement' ? around : undefined;
}

/** What is wrong with `new Promise(async …)`; otherwise who rejects it. */
export function checkExecutor(
  made: NodeOf<'NewExpression'>,
  scope: Scope,
): { readonly defect: Defect } | { readonly executor: Node; readonly reject: string } | undefined {
  const executor = made.arguments[0] === undefined ? undefined : unwrapped(made.arguments[0]);
  if (
    executor === undefined ||
    !isFunction(executor) ||
    referenceOf(made.callee, scope) !== 'global:Promise'
  ) {
    return undefined;
  }
  if (executor.async) return { defect: { rule: 'errors.async-executor', offset: executor.start } };
  const reject = executor.params[1];
  return reject?.type === 'Identifier' ? { executor, reject: reject.name } : undefined;
}

/** `Promise.reject(…)`, and `reject(…)` of an executor around it. */
export function checkRejection(
  { callee, arguments: given, start }: Call,
  scope: Scope,
  rejecters: readonly Rejecter[],
): Defect | undefined {
  if (!rejects(unwrapped(callee), scope, rejecters)) return undefined;
  const [reason] = given;
  if (reason === undefined) {
    const message = 'A promise is rejected with nothing: whoever awaits it learns only that it failed';
    return { rule: 'errors.no-message', offset: start, message };
  }
  if (saysWhat(reason) !== undefined) return { rule: 'errors.rejected-value', offset: start };
  return saysNothing(reason, scope) ? { rule: 'errors.no-message', offset: reason.start } : undefined;
}

function rejects(callee: Node, scope: Scope, rejecters: readonly Rejecter[]): boolean {
  if (callee.type !== 'Identifier') return referenceOf(callee, scope) === 'global:Promise.reject';
  const declaring = scopeOf(callee.name, scope);
  return rejecters.some((rejecter) => rejecter.name === callee.name && rejecter.scope === declaring);
}

function scopeOf(name: string, scope: Scope | undefined): Scope | undefined {
  return scope === undefined || scope.names.has(name) ? scope : scopeOf(name, scope.outer);
}
