import type { Defect } from '../evidence.ts';
import { type Node, type NodeOf, unwrapped } from '../syntax/node.ts';
import { ownNodes } from '../syntax/own-nodes.ts';
import { referenceOf } from '../syntax/reference.ts';
import type { Scope } from '../syntax/scopes.ts';

/** What is wrong with what is thrown. */
export function checkThrow({ argument, start }: NodeOf<'ThrowStatement'>, scope: Scope): Defect | undefined {
  const what = saysWhat(argument);
  if (what !== undefined) {
    const message = `What is thrown is ${what} and no Error: it has no stack, and no message to show`;
    return { rule: 'errors.thrown-value', offset: start, message };
  }
  return saysNothing(argument, scope) ? { rule: 'errors.no-message', offset: start } : undefined;
}

/** What a value surely is that surely is no Error. */
export function saysWhat(expression: Node): string | undefined {
  const node = unwrapped(expression);
  switch (node.type) {
    case 'TemplateLiteral':
      return 'a text';
    case 'Literal':
      if (node.value === null) return 'null';
      return typeof node.value === 'string' ? 'a text' : `a ${typeof node.value}`;
    case 'ObjectExpression':
      // With a spread it may hold all that an error has.
      return node.properties.some(({ type }) => type === 'SpreadElement') ? undefined : 'a plain object';
    case 'ArrayExpression':
      return 'a list';
    case 'BinaryExpression':
      return node.operator === '+' && [node.left, node.right].some((side) => saysWhat(side) === 'a text')
        ? 'a text'
        : undefined;
    case 'Identifier':
      return node.name === 'undefined' ? 'undefined' : undefined;
    default:
      return undefined;
  }
}

const BUILT_IN = /^global:(Error|TypeError|RangeError|SyntaxError|ReferenceError|EvalError|URIError)$/;

/** `new Error()` and `new Error('')`. An error of a class of one's own may say enough by its class. */
export function saysNothing(expression: Node, scope: Scope): boolean {
  const node = unwrapped(expression);
  if (node.type !== 'NewExpression' && node.type !== 'CallExpression') return false;
  if (!BUILT_IN.test(referenceOf(node.callee, scope) ?? '')) return false;
  const [message] = node.arguments;
  if (message === undefined) return true;
  const text = unwrapped(message);
  if (text.type === 'TemplateLiteral')
    return text.expressions.length === 0 && isBlank(text.quasis[0]?.value.raw);
  return text.type === 'Literal' && typeof text.value === 'string' && isBlank(text.value);
}

const isBlank = (text: string | undefined): boolean => text?.trim() === '';

/** Every `return` that stands in `finalizer` itself: it wins over an error that was on its way. */
export function checkFinally(finalizer: NodeOf<'BlockStatement'>): Defect[] {
  return [...ownNodes(finalizer)]
    .filter(({ type }) => type === 'ReturnStatement')
    .map(({ start }) => ({ rule: 'errors.finally-leaves', offset: start }));
}
