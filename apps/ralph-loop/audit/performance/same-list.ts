import type { SourceText } from '../../findings/source-text.ts';
import { keyName, type Node, type NodeOf, unwrapped } from '../syntax/node.ts';
import { declaringScope, type Scope } from '../syntax/scopes.ts';

/** A method called on a plain name or a path of names: `this.items.find`. */
export interface ListCall {
  readonly method: string;
  readonly list: Node;
}

export function listCallOf({ callee }: NodeOf<'CallExpression'>): ListCall | undefined {
  const member = unwrapped(callee);
  if (member.type !== 'MemberExpression') return undefined;
  const method = keyName(member.property, member.computed);
  const list = unwrapped(member.object);
  return method !== undefined && rootOf(list) !== undefined ? { method, list } : undefined;
}

/** A list as it is named somewhere in a file. */
export interface NamedList {
  readonly list: Node;
  readonly scope: Scope | undefined;
}

/** Whether two expressions name the same list: the same words, and the first of them declared at the same place. */
export function isSameList(a: NamedList, b: NamedList, { text }: SourceText): boolean {
  if (text.slice(a.list.start, a.list.end) !== text.slice(b.list.start, b.list.end)) return false;
  const root = rootOf(a.list) ?? '';
  return declaringScope(root, a.scope) === declaringScope(root, b.scope);
}

/** The first name of a path, or undefined if it is no path. */
function rootOf(node: Node): string | undefined {
  if (node.type === 'Identifier') return node.name;
  if (node.type === 'ThisExpression') return 'this';
  return node.type === 'MemberExpression' && !node.computed ? rootOf(unwrapped(node.object)) : undefined;
}
