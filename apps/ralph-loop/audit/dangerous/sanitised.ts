import { keyName, type Node, unwrapped } from '../syntax/node.ts';
import { lookUp, type Scope } from '../syntax/scopes.ts';

const SANITISER = /saniti[sz]e|escape|purify|trusted/i;

/** Whether HTML comes straight from something that calls itself a sanitiser, as `DOMPurify.sanitize(html)` does. */
export function isSanitised(html: Node, scope: Scope): boolean {
  const node = unwrapped(html);
  if (node.type === 'CallExpression') return SANITISER.test(nameOf(node.callee));
  if (node.type !== 'Identifier') return false;
  const binding = lookUp(node.name, scope);
  return binding?.kind === 'value' && binding.isConst && isSanitisingCall(binding.value);
}

function isSanitisingCall(value: Node): boolean {
  const node = unwrapped(value);
  return node.type === 'CallExpression' && SANITISER.test(nameOf(node.callee));
}

function nameOf(callee: Node): string {
  const node = unwrapped(callee);
  if (node.type === 'Identifier') return node.name;
  if (node.type !== 'MemberExpression') return '';
  return `${nameOf(node.object)}.${keyName(node.property, node.computed) ?? ''}`;
}
