import { calledName } from '../syntax/called-name.ts';
import { type Node, unwrapped } from '../syntax/node.ts';

/** What is done on the way out, or asked of a machine that may refuse: a failure changes nothing for the caller. */
const BEST_EFFORT =
  /^(close|closeSync|end|destroy|dispose|release|terminate|kill|abort|cancel|stop|disconnect|detach|unsubscribe|unref|cleanup|cleanUp|teardown|unlink|unlinkSync|rm|rmSync|rmdir|rmdirSync|remove|play|prefetch|preload)$/;

/** Whether an expression, awaited or not, is a call to something like `close` or `unlink`. */
export function isBestEffort(expression: Node): boolean {
  const node = unwrapped(expression);
  if (node.type === 'AwaitExpression' || node.type === 'UnaryExpression') return isBestEffort(node.argument);
  return node.type === 'CallExpression' && BEST_EFFORT.test(calledName(node.callee));
}
