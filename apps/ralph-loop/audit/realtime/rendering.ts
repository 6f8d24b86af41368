import { calledName } from '../syntax/called-name.ts';
import { type FunctionNode, isFunction } from '../syntax/function.ts';
import type { Node } from '../syntax/node.ts';
import { someOwn } from '../syntax/own-nodes.ts';
import { referenceOf } from '../syntax/reference.ts';
import type { Scope } from '../syntax/scopes.ts';
import { isSocket, startedBy } from './started.ts';

const CONDITIONS = new Set<Node['type']>([
  'IfStatement',
  'ConditionalExpression',
  'LogicalExpression',
  'AssignmentExpression',
  'SwitchStatement',
]);

/** What a component or hook starts in its own body, unconditionally: again with every rendering. */
export function startedInRendering(node: Node, scope: Scope, ancestors: readonly Node[]): string | undefined {
  const at = ancestors.findLastIndex(isFunction);
  const around = ancestors[at];
  if (around === undefined || !isFunction(around) || !isRendered(around, ancestors[at - 1])) return undefined;
  if (ancestors.slice(at).some(({ type }) => CONDITIONS.has(type))) return undefined;
  if (!isSocket(node, scope) && !isPageCall(node, scope)) return undefined;
  return startedBy(node, scope)?.what;
}

const isPageCall = (node: Node, scope: Scope): boolean =>
  node.type === 'CallExpression' &&
  /^global:(\w+\.)?(setInterval|addEventListener)$/.test(referenceOf(node.callee, scope) ?? '');

/** A component returns elements, a hook calls other hooks; both by their names. */
function isRendered(around: FunctionNode, above: Node | undefined): boolean {
  const name = nameOf(around, above);
  if (name === undefined || around.body === null || around.async) return false;
  if (/^use[A-Z]/.test(name)) return someOwn(around.body, isHookCall);
  if (!/^[A-Z]/.test(name)) return false;
  return someOwn(around.body, ({ type }) => type === 'JSXElement' || type === 'JSXFragment');
}

function nameOf(around: FunctionNode, above: Node | undefined): string | undefined {
  if (around.type !== 'ArrowFunctionExpression' && around.id !== null) return around.id.name;
  return above?.type === 'VariableDeclarator' && above.id.type === 'Identifier' ? above.id.name : undefined;
}

const isHookCall = (node: Node): boolean =>
  node.type === 'CallExpression' && /^use[A-Z]/.test(calledName(node.callee));
