import type { Defect } from '../evidence.ts';
import type { SourceText } from '../../findings/source-text.ts';
import { type FunctionNode, isFunction } from '../syntax/function.ts';
import { keyName, type Node, type NodeOf, unwrapped } from '../syntax/node.ts';
import { someOwn } from '../syntax/own-nodes.ts';
import { referenceOf } from '../syntax/reference.ts';
import { type Scope, walk } from '../syntax/scopes.ts';
import { startedBy } from './started.ts';

const RETURNS_CLEANUP =
  /^(react|preact\/hooks|preact\/compat):(useEffect|useLayoutEffect|useInsertionEffect)$|^global:React\.use(Layout|Insertion)?Effect$|^svelte:onMount$/;
/** Cleaned up by a hook of its own, wherever in the file. */
const SEPARATE_CLEANUP = new Map([
  ['vue:onMounted', /\bon(Unmounted|BeforeUnmount|ScopeDispose|Deactivated|WatcherCleanup)\b/],
  ['svelte:onMount', /\bonDestroy\b/],
]);
const METHODS = new Map([
  ['componentDidMount', 'componentWillUnmount'],
  ['connectedCallback', 'disconnectedCallback'],
]);

/** The function that a mount hook is called with, if nothing cleans up after it. */
export function uncleanEffect(
  { callee, arguments: [effect] }: NodeOf<'CallExpression'>,
  scope: Scope,
  source: SourceText,
): FunctionNode | undefined {
  const hook = referenceOf(callee, scope);
  if (hook === undefined || effect === undefined || !isFunction(effect)) return undefined;
  const separate = SEPARATE_CLEANUP.get(hook);
  if (separate?.test(source.text)) return undefined;
  if (separate === undefined && !RETURNS_CLEANUP.test(hook)) return undefined;
  return RETURNS_CLEANUP.test(hook) && returnsCleanup(effect) ? undefined : effect;
}

/** A promise is no clean-up: what an async effect returns is never called. */
function returnsCleanup({ async: isAsync, body }: FunctionNode): boolean {
  if (isAsync || body === null) return false;
  if (body.type !== 'BlockStatement') return true;
  return someOwn(body, (node) => {
    if (node.type !== 'ReturnStatement' || node.argument === null) return false;
    const { argument } = node;
    return !(argument.type === 'Identifier' && argument.name === 'undefined');
  });
}

/** `componentDidMount` of a class that has no `componentWillUnmount`, and the like. */
export function uncleanMethods({ body }: NodeOf<'ClassBody'>): FunctionNode[] {
  const methods = body.flatMap((member) => {
    if (member.type !== 'MethodDefinition' && member.type !== 'PropertyDefinition') return [];
    return [{ name: keyName(member.key, member.computed), value: member.value }];
  });
  const names = new Set(methods.map(({ name }) => name));
  return methods.flatMap(({ name, value }) => {
    const cleanup = name === undefined ? undefined : METHODS.get(name);
    if (cleanup === undefined || names.has(cleanup) || value === null || !isFunction(value)) return [];
    return [value];
  });
}

/** What is started in `effect` itself and can be ended by nobody. */
export function leaksOf(effect: FunctionNode, outer: Scope, { text }: SourceText): Defect[] {
  const inside = text.slice(effect.start, effect.end);
  const defects: Defect[] = [];
  walk(
    effect,
    (node, scope, ancestors) => {
      const unkept = ancestors.findLast(isFunction) === effect ? unkeptValue(node) : undefined;
      const started = unkept && startedBy(unkept.value, scope);
      if (unkept === undefined || started === undefined) return;
      if (started.endedBy.test(started.isHandle ? inside : text)) return;
      if (unkept.name !== undefined && isGivenOn(unkept.name, inside)) return;
      const message = `${started.what} in a hook that cleans nothing up`;
      defects.push({ rule: 'realtime.no-cleanup', offset: unkept.value.start, message });
    },
    outer,
  );
  return defects;
}

/** An expression whose value nobody gets, or only a variable: which one. */
function unkeptValue(node: Node): { readonly value: Node; readonly name?: string } | undefined {
  if (node.type === 'ExpressionStatement') return { value: unwrapped(node.expression) };
  if (node.type !== 'VariableDeclarator' || node.init === null || node.id.type !== 'Identifier')
    return undefined;
  return { value: unwrapped(node.init), name: node.id.name };
}

/** Whether `name` is mentioned a second time other than to use a member of it. */
const isGivenOn = (name: string, inside: string): boolean =>
  (inside.match(new RegExp(`(?<![\\w$.])${name.replaceAll('$', '\\$')}(?![\\w$]|\\s*\\??\\.)`, 'g'))
    ?.length ?? 0) > 1;
