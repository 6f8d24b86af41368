import { type Node, unwrapped } from './node.ts';
import { heldValue } from './reference.ts';
import type { Scope } from './scopes.ts';

/** What is known of a text: how it begins, and whether that is all of it. */
export interface KnownStart {
  readonly text: string;
  readonly isWhole: boolean;
  /** The literal that the text begins with. */
  readonly literal: Node;
}

/** Sums and `const`s are followed this far. */
const MAX_STEPS = 8;

/** How the text of an expression surely begins: literals, templates, sums and `const`s of those. */
export function knownStart(expression: Node, scope: Scope, steps = MAX_STEPS): KnownStart | undefined {
  if (steps === 0) return undefined;
  const node = unwrapped(expression);
  switch (node.type) {
    case 'Literal':
      return typeof node.value === 'string' ? { text: node.value, isWhole: true, literal: node } : undefined;
    case 'TemplateLiteral': {
      const parts: Node[] = [];
      for (const [index, quasi] of node.quasis.entries()) {
        if (index > 0) parts.push(node.expressions[index - 1] as Node);
        parts.push(quasi);
      }
      return joined(parts.map((part) => () => partOf(part, node, scope, steps)));
    }
    case 'BinaryExpression':
      if (node.operator !== '+') return undefined;
      return joined([node.left, node.right].map((side) => () => knownStart(side, scope, steps - 1)));
    case 'Identifier': {
      const held = heldValue(node, scope);
      return held === node ? undefined : knownStart(held, scope, steps - 1);
    }
    default:
      return undefined;
  }
}

function partOf(part: Node, template: Node, scope: Scope, steps: number): KnownStart | undefined {
  if (part.type !== 'TemplateElement') return knownStart(part, scope, steps - 1);
  return { text: part.value.cooked ?? part.value.raw, isWhole: true, literal: template };
}

/** The texts one after another, as far as they are known. */
function joined(parts: readonly (() => KnownStart | undefined)[]): KnownStart | undefined {
  let start: KnownStart | undefined;
  for (const part of parts) {
    const next = part();
    if (next === undefined)
      return start === undefined || start.text === '' ? undefined : { ...start, isWhole: false };
    const isFirst = start === undefined || start.text === '';
    start = isFirst
      ? next
      : { ...(start as KnownStart), text: (start as KnownStart).text + next.text, isWhole: next.isWhole };
    if (!start.isWhole) return start;
  }
  return start;
}
