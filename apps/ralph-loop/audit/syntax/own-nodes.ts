import { isFunction } from './function.ts';
import { childrenOf, type Node } from './node.ts';

/**
 * The nodes below and including `node` that run when it runs: not those inside functions and classes defined there.
 *
 * Nodes for which `isLeftOut` says so are left out with all that is below them.
 */
export function* ownNodes(node: Node, isLeftOut: (node: Node) => boolean = () => false): Generator<Node> {
  if (isLeftOut(node)) return;
  yield node;
  for (const child of childrenOf(node)) {
    if (!isFunction(child) && child.type !== 'ClassBody') yield* ownNodes(child, isLeftOut);
  }
}

/** Whether one of the nodes that run with `node` is as `is` says. */
export function someOwn(node: Node, is: (node: Node) => boolean): boolean {
  for (const own of ownNodes(node)) if (is(own)) return true;
  return false;
}
