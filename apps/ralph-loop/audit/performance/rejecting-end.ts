import type { AST } from '@eslint-community/regexpp';

/**
 * Whether something behind a repetition has to match, so that a text can make the whole expression fail there.
 *
 * Without it the first way that is tried succeeds, and no other is: `/(a+)+/` never backtracks, `/(a+)+$/` does.
 */
export function canFailAfter(repetition: AST.Quantifier): boolean {
  let node: AST.Node = repetition;
  for (let parent: AST.Node | null = node.parent; parent !== null; parent = parent.parent) {
    if (parent.type === 'Alternative') {
      const at = parent.elements.indexOf(node as AST.Element);
      if (parent.elements.slice(at + 1).some(mustMatch)) return true;
    }
    node = parent;
  }
  return false;
}

function mustMatch(element: AST.Element): boolean {
  switch (element.type) {
    case 'Quantifier':
      return element.min > 0 && mustMatch(element.element);
    case 'Group':
    case 'CapturingGroup':
      return element.alternatives.every(({ elements }) => elements.some(mustMatch));
    case 'Backreference':
      return false;
    default:
      return true;
  }
}
