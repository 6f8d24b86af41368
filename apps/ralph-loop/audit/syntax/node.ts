import { type Node, type Span, visitorKeys } from 'oxc-parser';

export type { Node, Span };

/** Some kind of syntax node. */
export type NodeOf<Type extends Node['type']> = Extract<Node, { type: Type }>;

/** The nodes directly below `node`, in source order. */
export function* childrenOf(node: Node): Generator<Node> {
  for (const key of visitorKeys[node.type] ?? []) {
    const child = (node as unknown as Record<string, Node | (Node | null)[] | null | undefined>)[key];
    if (Array.isArray(child)) {
      for (const one of child) if (one !== null) yield one;
    } else if (child !== null && child !== undefined) yield child;
  }
}

/** The name that a member access or a property spells out, or undefined if it is computed. */
export function keyName(key: Node, isComputed: boolean): string | undefined {
  if (!isComputed && (key.type === 'Identifier' || key.type === 'PrivateIdentifier')) return key.name;
  return key.type === 'Literal' && typeof key.value === 'string' ? key.value : undefined;
}

/** The expression inside type assertions, parentheses and optional chains. */
export function unwrapped(node: Node): Node {
  switch (node.type) {
    case 'ParenthesizedExpression':
    case 'ChainExpression':
    case 'TSAsExpression':
    case 'TSSatisfiesExpression':
    case 'TSNonNullExpression':
    case 'TSTypeAssertion':
    case 'TSInstantiationExpression':
      return unwrapped(node.expression);
    case 'SequenceExpression':
      return unwrapped(node.expressions.at(-1) as Node);
    default:
      return node;
  }
}
