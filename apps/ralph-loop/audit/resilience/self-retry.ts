import { type FunctionNode, isFunction } from '../syntax/function.ts';
import { type Node, type NodeOf, unwrapped } from '../syntax/node.ts';

/**
 * Whether a `catch` calls the function it stands in again, whatever the error, with the arguments it was called with:
 * nothing then counts the tries.
 */
export function isSelfRetry({ body }: NodeOf<'CatchClause'>, ancestors: readonly Node[]): boolean {
  const at = ancestors.findLastIndex(isFunction);
  const around = ancestors[at];
  if (around === undefined || !isFunction(around)) return false;
  const name = nameOf(around, ancestors[at - 1]);
  return name !== undefined && body.body.some((statement) => repeats(callIn(statement), name, around.params));
}

function nameOf(around: FunctionNode, parent: Node | undefined): string | undefined {
  if (around.id) return around.id.name;
  return parent?.type === 'VariableDeclarator' && parent.id.type === 'Identifier'
    ? parent.id.name
    : undefined;
}

/** The call that a statement is, or returns. */
function callIn(statement: Node): Node | undefined {
  if (statement.type !== 'ReturnStatement' && statement.type !== 'ExpressionStatement') return undefined;
  const value = statement.type === 'ReturnStatement' ? statement.argument : statement.expression;
  if (value === null) return undefined;
  const node = unwrapped(value);
  return node.type === 'AwaitExpression' ? unwrapped(node.argument) : node;
}

function repeats(call: Node | undefined, name: string, params: FunctionNode['params']): boolean {
  if (call?.type !== 'CallExpression' || call.callee.type !== 'Identifier') return false;
  if (call.callee.name !== name) return false;
  return call.arguments.every((argument, index) => {
    const param = params[index];
    return argument.type === 'Identifier' && param?.type === 'Identifier' && argument.name === param.name;
  });
}
