import type { Node, NodeOf } from '../syntax/node.ts';
import { keyName, unwrapped } from '../syntax/node.ts';
import { isConstant, referenceOf } from '../syntax/reference.ts';
import type { Scope } from '../syntax/scopes.ts';
import { isSanitised } from './sanitised.ts';

const TLS_SWITCH = 'NODE_TLS_REJECT_UNAUTHORIZED';

const isHarmless = (html: Node, scope: Scope): boolean => isConstant(html, scope) || isSanitised(html, scope);

/** `element.innerHTML = …`, `process.env.NODE_TLS_REJECT_UNAUTHORIZED = '0'`, `options.rejectUnauthorized = false`. */
export function checkAssignment({ left, operator, right }: NodeOf<'AssignmentExpression'>, scope: Scope) {
  if (left.type !== 'MemberExpression') return undefined;
  const name = keyName(left.property, left.computed);
  if ((name === 'innerHTML' || name === 'outerHTML') && (operator === '=' || operator === '+=')) {
    return isHarmless(right, scope) ? undefined : 'dom.inner-html';
  }
  if (name === 'rejectUnauthorized') return isFalse(right) ? 'tls.verify-off' : undefined;
  const isSwitch = name === TLS_SWITCH && isEnvironment(left.object, scope);
  return isSwitch && isZero(right) ? 'tls.verify-off' : undefined;
}

/** `{ rejectUnauthorized: false }`, `{ NODE_TLS_REJECT_UNAUTHORIZED: '0' }`, `{ dangerouslySetInnerHTML: { __html } }`. */
export function checkProperty(property: NodeOf<'Property'>, scope: Scope): string | undefined {
  const name = keyName(property.key, property.computed);
  const { value } = property;
  if (name === 'rejectUnauthorized') return isFalse(value) ? 'tls.verify-off' : undefined;
  if (name === TLS_SWITCH) return isZero(value) ? 'tls.verify-off' : undefined;
  // Only what is an object with `__html` is React's; in a pattern the same name takes a property out.
  if (name !== 'dangerouslySetInnerHTML' || value.type !== 'ObjectExpression') return undefined;
  return checkHtmlObject(value, scope);
}

/** `<div dangerouslySetInnerHTML={…} />`. */
export function checkAttribute({ name, value }: NodeOf<'JSXAttribute'>, scope: Scope): string | undefined {
  if (name.type !== 'JSXIdentifier' || name.name !== 'dangerouslySetInnerHTML') return undefined;
  if (value?.type !== 'JSXExpressionContainer' || value.expression.type === 'JSXEmptyExpression')
    return undefined;
  const given = unwrapped(value.expression);
  if (given.type === 'ObjectExpression') return checkHtmlObject(given, scope);
  return isConstant(given, scope) ? undefined : 'dom.dangerously-set';
}

function checkHtmlObject({ properties }: NodeOf<'ObjectExpression'>, scope: Scope): string | undefined {
  const html = properties.find(
    (property) => property.type === 'Property' && keyName(property.key, property.computed) === '__html',
  );
  if (html?.type !== 'Property') return undefined;
  return isHarmless(html.value, scope) ? undefined : 'dom.dangerously-set';
}

const isFalse = (node: Node): boolean => node.type === 'Literal' && node.value === false;

const isZero = (node: Node): boolean => node.type === 'Literal' && (node.value === 0 || node.value === '0');

const isEnvironment = (object: Node, scope: Scope): boolean => {
  const reference = referenceOf(object, scope);
  return reference === 'global:process.env' || reference === 'process:env';
};
