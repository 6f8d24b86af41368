import type { Defect } from '../evidence.ts';
import type { SourceText } from '../../findings/source-text.ts';
import { isExplained } from '../syntax/explained.ts';
import { functionAround } from '../syntax/function.ts';
import { childrenOf, keyName, type Node, type NodeOf, unwrapped } from '../syntax/node.ts';
import { someOwn } from '../syntax/own-nodes.ts';
import { isBestEffort } from './best-effort.ts';

type Catch = NodeOf<'CatchClause'>;
type Try = NodeOf<'TryStatement'>;

/** What is wrong with how `attempt` handles what it catches. */
export function checkTry(attempt: Try, ancestors: readonly Node[], source: SourceText): Defect | undefined {
  const { handler, start } = attempt;
  if (handler === null) return undefined;
  if (handler.body.body.length === 0) {
    const isMeant = isExplained(source, handler) || isExplained(source, { start, end: start });
    return isMeant || !hasEffect(attempt.block)
      ? undefined
      : { rule: 'errors.empty-catch', offset: handler.start };
  }
  if (isLoggedOnly(attempt, ancestors)) return { rule: 'errors.logged-only', offset: handler.start };
  return lostCause(handler);
}

/**
 * Whether what is tried does something that may now be undone or half done. What only asks (returns or assigns what it
 * got) falls back on what stands behind it, and what only cleans up has nothing to say.
 */
const hasEffect = (block: NodeOf<'BlockStatement'>): boolean =>
  !returnsValue(block) &&
  someOwn(
    block,
    (own) => own.type === 'ExpressionStatement' && isCall(own.expression) && !isBestEffort(own.expression),
  );

function isCall(expression: Node): boolean {
  const node = unwrapped(expression);
  return node.type === 'AwaitExpression' ? isCall(node.argument) : node.type === 'CallExpression';
}

/** The function returns a value if all goes well, and ends behind a catch that only logs. */
function isLoggedOnly(attempt: Try, ancestors: readonly Node[]): boolean {
  const { handler, block, finalizer } = attempt;
  const around = functionAround(ancestors);
  if (handler === null || finalizer !== null || around?.body?.type !== 'BlockStatement') return false;
  if (around.generator || around.body.body.at(-1) !== attempt || mayReturnNothing(around)) return false;
  return handler.body.body.every(isLogging) && returnsValue(block) && !returnsNothing(around.body);
}

const LOGGER = /^(console|\w*log(ger)?)$/i;
const LOGS = new Set(['log', 'info', 'warn', 'warning', 'error', 'debug', 'trace', 'fatal']);

function isLogging(statement: Node): boolean {
  if (statement.type !== 'ExpressionStatement') return false;
  const call = unwrapped(statement.expression);
  if (call.type !== 'CallExpression') return false;
  const callee = unwrapped(call.callee);
  if (callee.type !== 'MemberExpression' || !LOGS.has(keyName(callee.property, callee.computed) ?? '')) {
    return false;
  }
  const object = unwrapped(callee.object);
  if (object.type === 'Identifier') return LOGGER.test(object.name);
  return object.type === 'MemberExpression' && LOGGER.test(keyName(object.property, object.computed) ?? '');
}

/** Whether the function's own type says that undefined is one of its answers, or that nobody knows. */
function mayReturnNothing({ returnType }: { readonly returnType?: Node | null }): boolean {
  return returnType !== null && returnType !== undefined && mentionsNothing(returnType);
}

const NOTHING = new Set(['TSUndefinedKeyword', 'TSVoidKeyword', 'TSAnyKeyword', 'TSUnknownKeyword']);

const mentionsNothing = (type: Node): boolean =>
  NOTHING.has(type.type) || [...childrenOf(type)].some(mentionsNothing);

/** Whether something worth waiting for is returned. Of `true` the lack says all: it did not work. */
const returnsValue = (node: Node): boolean =>
  someOwn(
    node,
    (own) =>
      own.type === 'ReturnStatement' &&
      own.argument !== null &&
      !isUndefined(own.argument) &&
      !isTrue(own.argument),
  );

const isTrue = (node: Node): boolean => node.type === 'Literal' && node.value === true;

/** Whether a `return` of nothing stands in the function: then nothing is one of its answers. */
const returnsNothing = (body: Node): boolean =>
  someOwn(
    body,
    (own) => own.type === 'ReturnStatement' && (own.argument === null || isUndefined(own.argument)),
  );

const isUndefined = (node: Node): boolean =>
  (node.type === 'Identifier' && node.name === 'undefined') ||
  (node.type === 'UnaryExpression' && node.operator === 'void');

/** `catch (error) { throw new Error('failed') }`: the name is bound and never used. */
function lostCause({ param, body }: Catch): Defect | undefined {
  if (param?.type !== 'Identifier' || mentions(body, param.name)) return undefined;
  const thrown = body.body.find((statement) => statement.type === 'ThrowStatement');
  if (thrown?.type !== 'ThrowStatement' || unwrapped(thrown.argument).type !== 'NewExpression')
    return undefined;
  return { rule: 'errors.lost-cause', offset: thrown.start };
}

const mentions = (node: Node, name: string): boolean =>
  (node.type === 'Identifier' && node.name === name) ||
  [...childrenOf(node)].some((child) => mentions(child, name));
