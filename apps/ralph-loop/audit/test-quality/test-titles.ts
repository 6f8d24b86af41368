import type { Node } from '../syntax/node.ts';
import type { TestCall } from './test-calls.ts';

/** The title that a test or suite surely has, if it is written out without holes. */
export function literalTitle({ title }: TestCall): string | undefined {
  if (title.type === 'Literal') return typeof title.value === 'string' ? title.value : undefined;
  if (title.type !== 'TemplateLiteral' || title.expressions.length > 0) return undefined;
  return title.quasis[0]?.value.cooked ?? undefined;
}

/** One test stands for many, or perhaps for none: its title need not be its own. */
const MANIFOLD = ['each', 'for', 'skipIf', 'runIf'];

/** Finds tests, or suites, that have their title from an earlier one in the same block. */
export class TitleRegister {
  readonly #blocks = new Map<Node, Map<string, Node>>();

  /** The call that has the same title, if there is one before `call`. */
  earlier(call: Node, test: TestCall, ancestors: readonly Node[]): Node | undefined {
    const title = literalTitle(test);
    if (title === undefined || MANIFOLD.some((modifier) => test.modifiers.has(modifier))) return undefined;
    const block = blockOf(ancestors);
    const titles = this.#blocks.get(block) ?? new Map<string, Node>();
    this.#blocks.set(block, titles);
    const key = `${test.kind} ${title}`;
    const earlier = titles.get(key);
    if (earlier === undefined) titles.set(key, call);
    return earlier;
  }
}

/** What decides together with the call whether it runs: the nearest block, branch or function. */
function blockOf(ancestors: readonly Node[]): Node {
  const around = ancestors.findLast(({ type }, index) => {
    const above = ancestors[index - 1]?.type;
    return BLOCKS.has(type) || (above !== undefined && BRANCHING.has(above));
  });
  return around ?? (ancestors[0] as Node);
}

const BLOCKS = new Set<Node['type']>(['BlockStatement', 'Program', 'SwitchCase', 'ArrowFunctionExpression']);
const BRANCHING = new Set<Node['type']>(['IfStatement', 'ConditionalExpression', 'LogicalExpression']);
