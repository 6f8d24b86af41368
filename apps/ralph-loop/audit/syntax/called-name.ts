import { keyName, type Node, unwrapped } from './node.ts';

/** The last word of what is called: `get` of `client.get()`, `sleep` of `sleep()`; '' when it is computed. */
export function calledName(callee: Node): string {
  const node = unwrapped(callee);
  if (node.type === 'Identifier') return node.name;
  return node.type === 'MemberExpression' ? (keyName(node.property, node.computed) ?? '') : '';
}
