import type { ArrowFunctionExpression, Function as NamedFunction } from 'oxc-parser';
import type { Node } from './node.ts';

export type FunctionNode = NamedFunction | ArrowFunctionExpression;

export const isFunction = (node: Node): node is FunctionNode =>
  node.type === 'FunctionDeclaration' ||
  node.type === 'FunctionExpression' ||
  node.type === 'ArrowFunctionExpression';

/** The innermost function among `ancestors`. */
export const functionAround = (ancestors: readonly Node[]): FunctionNode | undefined =>
  ancestors.findLast(isFunction);
