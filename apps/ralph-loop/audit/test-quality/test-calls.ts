import { keyName, type Node, type NodeOf, unwrapped } from '../syntax/node.ts';
import { referenceOf } from '../syntax/reference.ts';
import { lookUp, type Scope } from '../syntax/scopes.ts';

export type FunctionNode = NodeOf<'ArrowFunctionExpression'> | NodeOf<'FunctionExpression'>;

/**
 * A call that declares a test or a suite.
 *
 * - `modifiers`  the names behind the function's: `only`, `skip`, `each`; and those that its own name means (`xit`).
 * - `title`      the first argument.
 * - `options`    an object between title and body.
 * - `body`       absent when it is not written out here.
 */
export interface TestCall {
  readonly kind: 'test' | 'suite';
  readonly modifiers: ReadonlySet<string>;
  readonly title: Node;
  readonly options: NodeOf<'ObjectExpression'> | undefined;
  readonly body: FunctionNode | undefined;
}

type Kind = TestCall['kind'];

/** What the functions of the frameworks declare, and the modifier that their name contains. */
const FUNCTIONS: ReadonlyMap<string, readonly [kind: Kind, modifier?: string]> = new Map<
  string,
  [Kind, string?]
>([
  ['it', ['test']],
  ['test', ['test']],
  ['specify', ['test']],
  ['fit', ['test', 'only']],
  ['ftest', ['test', 'only']],
  ['xit', ['test', 'skip']],
  ['xtest', ['test', 'skip']],
  ['xspecify', ['test', 'skip']],
  ['describe', ['suite']],
  ['suite', ['suite']],
  ['context', ['suite']],
  ['fdescribe', ['suite', 'only']],
  ['fcontext', ['suite', 'only']],
  ['xdescribe', ['suite', 'skip']],
  ['xcontext', ['suite', 'skip']],
]);

const FRAMEWORKS = new Set([
  'vitest',
  '@jest/globals',
  'test',
  'mocha',
  'bun:test',
  '@playwright/test',
  'ava',
]);
/** Their default export is the function that declares a test. */
const TEST_BY_DEFAULT = new Set(['test', 'ava']);
const MODIFIERS = new Set(
  'only skip todo fixme fails failing concurrent sequential serial parallel shuffle each for skipIf runIf describe'.split(
    ' ',
  ),
);
/** Tests that extend each other are followed this far; a loop of them ends here. */
const MAX_STEPS = 8;
/** Called with a table or a condition, they return the function that declares. */
const FACTORIES = new Set(['each', 'for', 'skipIf', 'runIf']);

/** What a call declares, if it declares a test or a suite; `isTestFile` allows for the frameworks' globals. */
export function testCall(
  call: NodeOf<'CallExpression'>,
  scope: Scope,
  isTestFile: boolean,
): TestCall | undefined {
  const [title, ...others] = call.arguments;
  const callee = declarerOf(call.callee, scope, isTestFile);
  if (callee === undefined || title === undefined || isFactory(call.callee)) return undefined;
  const body = [title, ...others].map(unwrapped).find(isFunction);
  if (body === undefined && !isText(title)) return undefined;
  const options = others.map(unwrapped).find((one) => one.type === 'ObjectExpression');
  return { ...callee, title: unwrapped(title), options, body };
}

const isFactory = (callee: Node): boolean => {
  const node = unwrapped(callee);
  return node.type === 'MemberExpression' && FACTORIES.has(keyName(node.property, node.computed) ?? '');
};

const isText = ({ type }: Node): boolean => type === 'Literal' || type === 'TemplateLiteral';

export const isFunction = (node: Node): node is FunctionNode =>
  node.type === 'ArrowFunctionExpression' || node.type === 'FunctionExpression';

type Declarer = Pick<TestCall, 'kind' | 'modifiers'>;

function declarerOf(callee: Node, scope: Scope, isTestFile: boolean): Declarer | undefined {
  const chain = chainOf(callee);
  if (chain === undefined) return undefined;
  const names = [...chain.names];
  const root = rootName(chain.root, scope, isTestFile, names);
  const [kind, modifier] = FUNCTIONS.get(root ?? '') ?? [];
  if (kind === undefined || !names.every((name) => MODIFIERS.has(name))) return undefined;
  const modifiers = new Set(modifier === undefined ? names : [modifier, ...names]);
  return { kind: modifiers.delete('describe') ? 'suite' : kind, modifiers };
}

/** `it.skip.each(table)` as the name `it` and what follows it. */
function chainOf(
  callee: Node,
): { readonly root: NodeOf<'Identifier'>; readonly names: string[] } | undefined {
  const node = unwrapped(callee);
  switch (node.type) {
    case 'Identifier':
      return { root: node as NodeOf<'Identifier'>, names: [] };
    case 'MemberExpression': {
      const name = keyName(node.property, node.computed);
      const chain = chainOf(node.object);
      return chain && name !== undefined ? { root: chain.root, names: [...chain.names, name] } : undefined;
    }
    case 'CallExpression':
      return isFactory(node.callee) ? chainOf(node.callee) : undefined;
    case 'TaggedTemplateExpression':
      return isFactory(node.tag) ? chainOf(node.tag) : undefined;
    default:
      return undefined;
  }
}

/** The framework's name for what the chain begins with; takes it from `names` where the chain begins with a module. */
function rootName(
  root: NodeOf<'Identifier'>,
  scope: Scope,
  isTestFile: boolean,
  names: string[],
  steps = MAX_STEPS,
): string | undefined {
  const extended = steps > 0 ? extendedFrom(root, scope) : undefined;
  if (extended !== undefined) return rootName(extended, scope, isTestFile, names, steps - 1);
  const reference = referenceOf(root, scope);
  if (reference === undefined) return undefined;
  const colon = reference.lastIndexOf(':');
  const [module, name] = [reference.slice(0, colon), reference.slice(colon + 1)];
  if (module === 'global') return isTestFile ? name : undefined;
  if (!FRAMEWORKS.has(module)) return undefined;
  if (name !== '*') return name;
  if (names[0] === 'default') names.shift();
  if (FUNCTIONS.has(names[0] ?? '')) return names.shift();
  return TEST_BY_DEFAULT.has(module) ? 'test' : undefined;
}

/** `const test = base.extend({ … })` declares as `base` does. */
function extendedFrom(root: NodeOf<'Identifier'>, scope: Scope): NodeOf<'Identifier'> | undefined {
  const binding = lookUp(root.name, scope);
  const value = binding?.kind === 'value' ? unwrapped(binding.value) : undefined;
  if (value?.type !== 'CallExpression' || value.callee.type !== 'MemberExpression') return undefined;
  const { object, property, computed } = value.callee;
  if (keyName(property, computed) !== 'extend' || object.type !== 'Identifier') return undefined;
  return object as NodeOf<'Identifier'>;
}
