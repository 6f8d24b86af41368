import type { Node, NodeOf } from './node.ts';
import { ownNodes, someOwn } from './own-nodes.ts';

export type LoopNode = NodeOf<
  'ForStatement' | 'WhileStatement' | 'DoWhileStatement' | 'ForOfStatement' | 'ForInStatement'
>;

const LOOPS = new Set([
  'ForStatement',
  'WhileStatement',
  'DoWhileStatement',
  'ForOfStatement',
  'ForInStatement',
]);

export const isLoop = (node: Node): node is LoopNode => LOOPS.has(node.type);

/** Whether only what stands in its body can end a loop: `for (;;)`, `while (true)`, `do … while (1)`. */
export function isEndless(loop: LoopNode): boolean {
  if (loop.type === 'ForStatement') return loop.test === null || isTrue(loop.test);
  return (loop.type === 'WhileStatement' || loop.type === 'DoWhileStatement') && isTrue(loop.test);
}

const isTrue = (test: Node): boolean => test.type === 'Literal' && (test.value === true || test.value === 1);

/**
 * Whether running `node`, which stands in a loop's body, may leave that loop: by `return`, `throw`, `yield`, or a `break`
 * that is not of a loop or switch within `node`.
 */
export const leavesLoop = (node: Node): boolean =>
  [...ownNodes(node, takesBreaks)].some(({ type }) => type === 'BreakStatement') ||
  someOwn(node, (own) => LEAVES.has(own.type) || (own.type === 'BreakStatement' && own.label !== null));

const LEAVES = new Set(['ReturnStatement', 'ThrowStatement', 'YieldExpression']);

const takesBreaks = (node: Node): boolean => isLoop(node) || node.type === 'SwitchStatement';
