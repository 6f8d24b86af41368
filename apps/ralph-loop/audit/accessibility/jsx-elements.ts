import type { SourceText } from '../../findings/source-text.ts';
import { calledName } from '../syntax/called-name.ts';
import { type Node, type NodeOf, unwrapped } from '../syntax/node.ts';
import { type Attribute, COMPUTED, type Content, SLOT, type UiElement } from './element.ts';

/**
 * An element of JSX with all that is written out below it. `ancestors` are the nodes around it, the nearest last; of the
 * elements among them only names and attributes are given.
 */
export function jsxElement(
  node: NodeOf<'JSXElement'>,
  ancestors: readonly Node[],
  source: SourceText,
): UiElement {
  let parent: UiElement | undefined;
  for (const around of ancestors) if (around.type === 'JSXElement') parent = shallow(around, parent, source);
  return withChildren(node, parent, source);
}

function shallow(
  { openingElement, start }: NodeOf<'JSXElement'>,
  parent: UiElement | undefined,
  source: SourceText,
): UiElement & { readonly children: Content[] } {
  const written = source.text.slice(openingElement.name.start, openingElement.name.end);
  const isComponent = !/^[a-z][a-z0-9]*$/.test(written);
  const attributes = new Map<string, Attribute>();
  for (const attribute of openingElement.attributes) {
    if (attribute.type !== 'JSXAttribute') continue;
    const name = source.text.slice(attribute.name.start, attribute.name.end);
    attributes.set(htmlName(name), attributeOf(attribute.value, source));
  }
  const hasOthers = openingElement.attributes.some(({ type }) => type === 'JSXSpreadAttribute');
  return { name: written, isComponent, offset: start, attributes, hasOthers, parent, children: [] };
}

function withChildren(
  node: NodeOf<'JSXElement'>,
  parent: UiElement | undefined,
  source: SourceText,
): UiElement {
  const element = shallow(node, parent, source);
  element.children.push(...contentOf(node.children, element, source));
  return element;
}

function contentOf(
  children: NodeOf<'JSXElement'>['children'],
  parent: UiElement,
  source: SourceText,
): Content[] {
  return children.flatMap((child): Content[] => {
    switch (child.type) {
      case 'JSXText':
        return [child.value];
      case 'JSXElement':
        return [withChildren(child, parent, source)];
      case 'JSXFragment':
        return contentOf(child.children, parent, source);
      case 'JSXExpressionContainer':
        return child.expression.type === 'JSXEmptyExpression' ? [] : [computedBy(child.expression)];
      default:
        return [COMPUTED];
    }
  });
}

const SLOTS = /^(children|render.*|.*(trigger|activator|anchor|button|link|control|action))$/i;

function computedBy(expression: Node): Content {
  const node = unwrapped(expression);
  const name = calledName(node.type === 'CallExpression' ? node.callee : node);
  return constantText(node) ?? (SLOTS.test(name) ? SLOT : COMPUTED);
}

const HTML_NAMES = new Map([
  ['htmlfor', 'for'],
  ['classname', 'class'],
]);

function htmlName(name: string): string {
  const lower = name.toLowerCase().replace(/^on:/, 'on');
  return HTML_NAMES.get(lower) ?? lower;
}

function attributeOf(value: NodeOf<'JSXAttribute'>['value'], source: SourceText): Attribute {
  if (value === null) return { text: 'true', raw: '' };
  const raw = source.text.slice(value.start, value.end);
  if (value.type === 'Literal') return { text: String(value.value), raw };
  if (value.type !== 'JSXExpressionContainer' || value.expression.type === 'JSXEmptyExpression') {
    return { text: undefined, raw };
  }
  return { text: constantText(value.expression), raw };
}

function constantText(expression: Node): string | undefined {
  const node = unwrapped(expression);
  if (node.type === 'TemplateLiteral' && node.expressions.length === 0)
    return node.quasis[0]?.value.cooked ?? undefined;
  if (node.type !== 'Literal' || node.value === null) return undefined;
  return String(node.value);
}
