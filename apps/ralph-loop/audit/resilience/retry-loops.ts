import { isNetworkCall } from '../network-calls.ts';
import { calledName } from '../syntax/called-name.ts';
import { isEndless, isLoop, leavesLoop, type LoopNode } from '../syntax/loop.ts';
import type { Node, NodeOf } from '../syntax/node.ts';
import { ownNodes, someOwn } from '../syntax/own-nodes.ts';
import type { Scope } from '../syntax/scopes.ts';

/** A loop around one `try` whose `catch` lets it go round again. */
interface RetryLoop {
  readonly loop: LoopNode;
  readonly attempt: NodeOf<'TryStatement'>;
  readonly handler: NodeOf<'CatchClause'>;
  /** The statements of the loop's body that run after a failure, beside the `catch`. */
  readonly others: readonly Node[];
  /** Whether the loop ends when the attempt succeeds. */
  readonly endsOnSuccess: boolean;
}

/** The rules that a loop breaks by trying again what failed. */
export function checkRetryLoop(node: Node, scope: Scope): string[] {
  if (!isLoop(node)) return [];
  const retry = retryLoopOf(node);
  if (retry === undefined) return [];
  const rules: string[] = [];
  if (isWithoutLimit(retry)) rules.push('resilience.endless-retry');
  if (isWithoutPause(retry, scope)) rules.push('resilience.retry-without-pause');
  return rules;
}

function retryLoopOf(loop: LoopNode): RetryLoop | undefined {
  if (loop.body.type !== 'BlockStatement') return undefined;
  const { body } = loop.body;
  const at = body.findIndex(({ type }) => type === 'TryStatement');
  const attempt = body[at];
  if (attempt?.type !== 'TryStatement' || attempt.handler === null) return undefined;
  if (!awaits(attempt.block) || !goesOn(attempt.handler.body.body)) return undefined;
  const skipsRest = attempt.handler.body.body.at(-1)?.type === 'ContinueStatement';
  const rest = body.slice(at + 1);
  const others: Node[] = [...body.slice(0, at), ...(skipsRest ? [] : rest)];
  if (attempt.finalizer !== null) others.push(attempt.finalizer);
  const endsOnSuccess = leavesLoop(attempt.block) || (skipsRest && rest.some(leavesLoop));
  return { loop, attempt, handler: attempt.handler, others, endsOnSuccess };
}

const awaits = (node: Node): boolean => someOwn(node, ({ type }) => type === 'AwaitExpression');

/** Whether control comes to the end of a `catch`, or on to the next round, on at least one way. */
function goesOn(statements: readonly Node[]): boolean {
  const last = statements.at(-1);
  return last === undefined || !ENDS.has(last.type);
}
const ENDS = new Set(['ReturnStatement', 'ThrowStatement', 'BreakStatement']);

/** What says that somebody outside can end the loop, or that tries are counted. */
const BOUND = /signal|abort|cancel|stop|closed|deadline|attempt|retries|tries|limit|max|running|shutdown/i;

function isWithoutLimit({ loop, handler, others, endsOnSuccess }: RetryLoop): boolean {
  if (!isEndless(loop) || !endsOnSuccess || leavesLoop(handler) || others.some(leavesLoop)) return false;
  return !someOwn(loop, (node) => node.type === 'Identifier' && BOUND.test(node.name)) && !exits(handler);
}

/** `process.exit()` and whatever is named as if it did not come back. */
const exits = (node: Node): boolean =>
  someOwn(node, (inner) => inner.type === 'CallExpression' && NO_RETURN.test(calledName(inner.callee)));
const NO_RETURN = /^(exit|abort|fail|die|panic|throw\w*|rethrow\w*|fatal)$/i;

const PAUSE = /sleep|delay|wait|pause|back-?off|timeout|timer|jitter|retryAfter|throttle|interval|schedul/i;

function isWithoutPause({ loop, attempt, handler, others, endsOnSuccess }: RetryLoop, scope: Scope): boolean {
  const isRepeat = loop.type !== 'ForOfStatement' && loop.type !== 'ForInStatement';
  if (!isRepeat || awaits(handler) || others.some(awaits) || exits(handler)) return false;
  if (someOwn(loop, (node) => node.type === 'Identifier' && PAUSE.test(node.name))) return false;
  const goesOut = someOwn(attempt.block, (node) => isNetworkCall(node, scope));
  if (isEndless(loop)) return (goesOut || endsOnSuccess) && !leavesLoop(handler) && !others.some(leavesLoop);
  return goesOut && endsOnSuccess && !triesAnother(loop, attempt.block);
}

/** Whether each round tries something else: it uses the loop's variable, or takes from a list. */
function triesAnother(loop: LoopNode, block: Node): boolean {
  const counters =
    loop.type === 'ForStatement' && loop.init !== null ? namesIn(loop.init) : namesIn(testOf(loop));
  return someOwn(
    block,
    (node) =>
      (node.type === 'Identifier' && counters.has(node.name)) ||
      (node.type === 'CallExpression' && TAKES.has(calledName(node.callee))),
  );
}
const TAKES = new Set(['shift', 'pop', 'next', 'dequeue', 'take']);

const testOf = (loop: LoopNode): Node | undefined =>
  loop.type === 'WhileStatement' || loop.type === 'DoWhileStatement' ? loop.test : undefined;

function namesIn(node: Node | undefined): ReadonlySet<string> {
  const names = new Set<string>();
  if (node === undefined) return names;
  for (const own of ownNodes(node)) if (own.type === 'Identifier') names.add(own.name);
  return names;
}
