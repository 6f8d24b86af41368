import { isNetworkCall } from '../network-calls.ts';
import { calledName } from '../syntax/called-name.ts';
import { leavesLoop } from '../syntax/loop.ts';
import { type Node, type NodeOf, unwrapped } from '../syntax/node.ts';
import { ownNodes, someOwn } from '../syntax/own-nodes.ts';
import type { Scope } from '../syntax/scopes.ts';

/** What reads the answer that a request brought. */
const READS = new Set(['json', 'text', 'blob', 'arrayBuffer', 'bytes', 'formData']);
/** Words of somebody who takes care not to send everything at once. */
const CAREFUL = /sleep|delay|wait|limit|pause|throttle|batch|chunk|page|cursor|token|retry|sequential/i;

/**
 * Whether the rounds of a loop ask for something each and wait for it, though no round needs what another one got.
 *
 * Only plain requests to read count: nothing is sent, nothing but a list or a table outside is written, nobody leaves the
 * loop early.
 */
export function isAwaitInLoop(loop: NodeOf<'ForOfStatement'>, scope: Scope): boolean {
  if (loop.await || leavesLoop(loop.body) || !isName(unwrapped(loop.right))) return false;
  const items = new Set(
    [...ownNodes(loop.left)].flatMap((node) => (node.type === 'Identifier' ? [node.name] : [])),
  );
  let requests = 0;
  for (const node of ownNodes(loop.body)) {
    if (node.type === 'Identifier' && CAREFUL.test(node.name)) return false;
    if (node.type === 'AssignmentExpression' && node.left.type !== 'MemberExpression') return false;
    if (node.type === 'UpdateExpression' || node.type === 'TryStatement') return false;
    if (node.type !== 'AwaitExpression') continue;
    const asked = unwrapped(node.argument);
    if (isPlainRead(asked, scope) && uses(asked, items)) requests += 1;
    else if (asked.type !== 'CallExpression' || !READS.has(calledName(asked.callee))) return false;
  }
  return requests > 0;
}

const isName = (node: Node): boolean => node.type === 'Identifier' || node.type === 'MemberExpression';

/** A request with an address and no options is a GET. */
const isPlainRead = (node: Node, scope: Scope): boolean =>
  node.type === 'CallExpression' &&
  node.arguments.length === 1 &&
  isNetworkCall(node, scope) &&
  !/^(post|put|patch|delete)$/.test(calledName(node.callee));

const uses = (node: Node, names: ReadonlySet<string>): boolean =>
  someOwn(node, (inner) => inner.type === 'Identifier' && names.has(inner.name));
