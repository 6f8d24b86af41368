import { calledName } from '../syntax/called-name.ts';
import { isFunction } from '../syntax/function.ts';
import { isLoop } from '../syntax/loop.ts';
import { keyName, type Node, type NodeOf, unwrapped } from '../syntax/node.ts';
import { heldValue, referenceOf } from '../syntax/reference.ts';
import type { Scope } from '../syntax/scopes.ts';
import type { Place } from './place.ts';
import { isSameList, listCallOf, type NamedList } from './same-list.ts';

const SEARCHES = /^(?:indexOf|lastIndexOf|includes|find|findIndex|findLast|findLastIndex|filter|some|every)$/;
const ROUNDS = /^(?:filter|map|flatMap|forEach|some|every|find|findIndex)$/;

/** Whether a call searches a list inside a round over that same list: the work grows with the square of its length. */
export function isSearchInLoop(call: NodeOf<'CallExpression'>, place: Place): boolean {
  const search = listCallOf(call);
  const [sought] = call.arguments;
  if (search === undefined || !SEARCHES.test(search.method) || isShort(search.list, place.scope))
    return false;
  // What does not depend on the item is one search too many, but somebody may want it to read like that.
  if (sought === undefined || sought.type === 'Literal') return false;
  const searched: NamedList = { list: search.list, scope: place.scope };
  const { ancestors } = place;
  return ancestors.some((node, index) => {
    if (isFunction(node)) return isRoundOver(searched, node, ancestors[index - 1], place);
    return node.type === 'ForOfStatement' && isRepeated(searched, node, ancestors.slice(index + 1), place);
  });
}

/** `list.map((item) => …)`, or `list.map((item, index, whole) => …)` with a search in `whole`. */
function isRoundOver(searched: NamedList, callback: Node, call: Node | undefined, place: Place): boolean {
  if (!isFunction(callback) || call?.type !== 'CallExpression' || call.arguments[0] !== callback)
    return false;
  if (!ROUNDS.test(calledName(call.callee))) return false;
  const [, , whole] = callback.params;
  const { list } = searched;
  if (whole?.type === 'Identifier' && list.type === 'Identifier' && whole.name === list.name) return true;
  const round = listCallOf(call);
  return (
    round !== undefined &&
    isSameList({ list: round.list, scope: place.scopeOf(call) }, searched, place.source)
  );
}

/** `for (const item of list)`, where the search is not on the way out of the loop. */
function isRepeated(
  searched: NamedList,
  loop: NodeOf<'ForOfStatement'>,
  below: readonly Node[],
  place: Place,
): boolean {
  if (!below.includes(loop.body) || below.some((node) => isLoop(node) || isFunction(node) || leaves(node)))
    return false;
  const outside = place.scopeOf(loop);
  return isSameList({ list: unwrapped(loop.right), scope: outside }, searched, place.source);
}

const LEAVES = new Set(['ReturnStatement', 'ThrowStatement', 'BreakStatement']);

const leaves = (node: Node): boolean =>
  LEAVES.has(node.type) || (node.type === 'BlockStatement' && LEAVES.has(node.body.at(-1)?.type ?? ''));

/** Constants are as long as somebody cared to write. */
function isShort(list: Node, scope: Scope): boolean {
  const value = heldValue(list, scope);
  if (value.type === 'ArrayExpression' || value.type === 'Literal' || value.type === 'TemplateLiteral')
    return true;
  const name = list.type === 'MemberExpression' ? keyName(list.property, list.computed) : undefined;
  return /^[A-Z][A-Z0-9_]*$/.test(list.type === 'Identifier' ? list.name : (name ?? ''));
}

/** Whether `reduce` makes a new list or object in each round from all of the last: `[...all, one]`, `{ ...all, one }`. */
export function isSpreadAccumulator(call: NodeOf<'CallExpression'>, { scope }: Place): boolean {
  const method = unwrapped(call.callee);
  if (method.type !== 'MemberExpression') return false;
  if (!/^reduce(Right)?$/.test(keyName(method.property, method.computed) ?? '')) return false;
  const [callback, start] = call.arguments;
  if (callback === undefined || start === undefined || !isFunction(callback)) return false;
  const [all] = callback.params;
  if (all?.type !== 'Identifier' || callback.body === null || isShort(unwrapped(method.object), scope))
    return false;
  return resultsOf(callback.body).some((result) => copies(unwrapped(result), all.name, scope));
}

/** What a function's body may return, as far as it stands at its end. */
function resultsOf(body: Node): Node[] {
  if (body.type === 'BlockStatement') {
    const last = body.body.at(-1);
    return last?.type === 'ReturnStatement' && last.argument !== null ? resultsOf(last.argument) : [];
  }
  const node = unwrapped(body);
  return node.type === 'ConditionalExpression'
    ? [node.consequent, node.alternate].flatMap(resultsOf)
    : [node];
}

function copies(result: Node, all: string, scope: Scope): boolean {
  const isAll = (node: Node | null | undefined): boolean => node?.type === 'Identifier' && node.name === all;
  const spreadsAll = (node: Node | null): boolean => node?.type === 'SpreadElement' && isAll(node.argument);
  if (result.type === 'ArrayExpression') return result.elements.some(spreadsAll);
  if (result.type === 'ObjectExpression') return result.properties.some(spreadsAll);
  if (result.type !== 'CallExpression' || referenceOf(result.callee, scope) !== 'global:Object.assign')
    return false;
  return result.arguments[0]?.type === 'ObjectExpression' && isAll(result.arguments[1]);
}
