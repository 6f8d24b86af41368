import { keyName, type Node, unwrapped } from './node.ts';
import { type Binding, lookUp, type Scope } from './scopes.ts';

/** Aliases of aliases are followed this far; a loop of them ends here. */
const MAX_STEPS = 12;

const GLOBAL_OBJECTS = new Set(['globalThis', 'window', 'self', 'global', 'top', 'parent']);
/** Called with a module's name, they return the module. */
const LOADERS = new Set(['global:require', 'global:process.getBuiltinModule', 'module:createRequire()']);
/** Called with a function, they return one that does the same. */
const WRAPPERS = new Set(['util:promisify']);

/**
 * What an expression refers to, through imports, `require`, aliases, destructuring and namespaces.
 *
 * - `child_process:exec`  an export of a module (`node:` is dropped);
 * - `child_process:*`     the module itself;
 * - `global:eval`, `global:document.write`  a global and its members;
 * - undefined             anything else, such as what a name of the file's own stands for.
 */
export function referenceOf(expression: Node, scope: Scope, steps = MAX_STEPS): string | undefined {
  if (steps === 0) return undefined;
  const node = unwrapped(expression);
  switch (node.type) {
    case 'Identifier':
      return ofBinding(node.name, lookUp(node.name, scope), scope, steps);
    case 'MemberExpression': {
      const name = keyName(node.property, node.computed);
      return name === undefined ? undefined : memberOf(referenceOf(node.object, scope, steps - 1), name);
    }
    case 'AwaitExpression':
      return referenceOf(node.argument, scope, steps - 1);
    case 'ImportExpression':
      return moduleNamed(node.source);
    case 'CallExpression':
      return ofCall(node, scope, steps);
    default:
      return undefined;
  }
}

function ofBinding(
  name: string,
  binding: Binding | undefined,
  scope: Scope,
  steps: number,
): string | undefined {
  if (binding === undefined) return GLOBAL_OBJECTS.has(name) ? 'global:*' : `global:${name}`;
  switch (binding.kind) {
    case 'import':
      return `${binding.module.replace(/^node:/, '')}:${binding.name}`;
    case 'value':
      return referenceOf(binding.value, scope, steps - 1);
    case 'member':
      return memberOf(referenceOf(binding.of, scope, steps - 1), binding.name);
    case 'other':
      return undefined;
  }
}

function memberOf(object: string | undefined, name: string): string | undefined {
  if (object === undefined) return undefined;
  if (object === 'global:*') return GLOBAL_OBJECTS.has(name) ? object : `global:${name}`;
  if (object.endsWith(':*')) return name === 'default' ? object : object.slice(0, -1) + name;
  return `${object}.${name}`;
}

function ofCall(
  { callee, arguments: given }: Extract<Node, { type: 'CallExpression' }>,
  scope: Scope,
  steps: number,
): string | undefined {
  const called = referenceOf(callee, scope, steps - 1);
  const [first] = given;
  if (called === 'module:createRequire') return 'module:createRequire()';
  if (called === undefined || first === undefined) return undefined;
  if (LOADERS.has(called)) return moduleNamed(first);
  return WRAPPERS.has(called) ? referenceOf(first, scope, steps - 1) : undefined;
}

function moduleNamed(name: Node): string | undefined {
  if (name.type !== 'Literal' || typeof name.value !== 'string') return undefined;
  return `${name.value.replace(/^node:/, '')}:*`;
}

/** What a `const` of the file holds, else the expression itself. */
export function heldValue(expression: Node, scope: Scope): Node {
  const node = unwrapped(expression);
  const binding = node.type === 'Identifier' ? lookUp(node.name, scope) : undefined;
  return binding?.kind === 'value' && binding.isConst ? unwrapped(binding.value) : node;
}

/** Whether the value cannot change: literals, templates and sums of literals, and `const`s of those. */
export function isConstant(expression: Node, scope: Scope, steps = MAX_STEPS): boolean {
  if (steps === 0) return false;
  const node = unwrapped(expression);
  const holds = (part: Node): boolean => isConstant(part, scope, steps - 1);
  switch (node.type) {
    case 'Literal':
      return true;
    case 'TemplateLiteral':
      return node.expressions.every(holds);
    case 'TaggedTemplateExpression':
      return isRawString(node.tag) && node.quasi.expressions.every(holds);
    case 'BinaryExpression':
      return node.operator === '+' && holds(node.left) && holds(node.right);
    case 'ArrayExpression':
      return node.elements.every((element) => element === null || holds(element));
    case 'ConditionalExpression':
      return holds(node.consequent) && holds(node.alternate);
    case 'Identifier': {
      const binding = lookUp(node.name, scope);
      return binding?.kind === 'value' && binding.isConst && holds(binding.value);
    }
    default:
      return false;
  }
}

const isRawString = (tag: Node): boolean =>
  tag.type === 'MemberExpression' && tag.object.type === 'Identifier' && tag.object.name === 'String';
