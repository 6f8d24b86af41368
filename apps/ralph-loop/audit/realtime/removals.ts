import { calledName } from '../syntax/called-name.ts';
import { isFunction } from '../syntax/function.ts';
import { type NodeOf, unwrapped } from '../syntax/node.ts';

const REMOVES = new Set(['removeEventListener', 'removeListener', 'off']);
/** They return another function each time. */
const MAKES_FUNCTION = new Set(['bind', 'debounce', 'throttle']);

/** Whether a call would remove a listener that is made in the same breath: nobody can have added it. */
export function removesNothing({ callee, arguments: given }: NodeOf<'CallExpression'>): boolean {
  const [event, listener] = given;
  if (!REMOVES.has(calledName(callee)) || event === undefined || listener === undefined) return false;
  if (unwrapped(callee).type !== 'MemberExpression') return false;
  const node = unwrapped(listener);
  return isFunction(node) || (node.type === 'CallExpression' && MAKES_FUNCTION.has(calledName(node.callee)));
}
