import type { SourceText } from '../../findings/source-text.ts';
import type { Node } from '../syntax/node.ts';
import type { Scope } from '../syntax/scopes.ts';

/**
 * Where a node stands.
 *
 * - `ancestors`  the nodes around it, the nearest last.
 * - `scopeOf`    the scope in which one of them stands, if it is a call or a loop.
 */
export interface Place {
  readonly source: SourceText;
  readonly scope: Scope;
  readonly ancestors: readonly Node[];
  readonly scopeOf: (node: Node) => Scope | undefined;
}
