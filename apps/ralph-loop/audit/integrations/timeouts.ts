import type { Defect } from '../evidence.ts';
import type { SourceText } from '../../findings/source-text.ts';
import { calledName } from '../syntax/called-name.ts';
import { isExplained } from '../syntax/explained.ts';
import { type Node, type NodeOf, unwrapped } from '../syntax/node.ts';
import { referenceOf } from '../syntax/reference.ts';
import type { Scope } from '../syntax/scopes.ts';
import { goesElsewhere, lacks, type Request, requestOf } from './requests.ts';

/** Options by which a request is given an end. */
const ENDS: Readonly<Record<Request['client'], readonly string[]>> = {
  fetch: ['signal', 'dispatcher', 'timeout'],
  axios: ['timeout', 'signal', 'cancelToken'],
  http: ['timeout', 'signal', 'agent'],
};
/** A mention of these, anywhere in the file, may set an end for all requests. */
const ENDS_ELSEWHERE: Readonly<Record<Request['client'], RegExp>> = {
  fetch: /setGlobalDispatcher/,
  axios: /\btimeout\s*[:=]|interceptors/,
  http: /setTimeout\s*\(|['"]timeout['"]/,
};

/** A call that may wait for ever. What runs in a page is left to its user, who can leave. */
export function checkTimeout(
  call: NodeOf<'CallExpression'>,
  scope: Scope,
  ancestors: readonly Node[],
  { text }: SourceText,
): Defect | undefined {
  const defect: Defect = { rule: 'integrations.no-timeout', offset: call.start };
  if (referenceOf(call.callee, scope) === 'axios:create') {
    const isOpen = lacks(call.arguments[0], ENDS.axios, scope) && !ENDS_ELSEWHERE.axios.test(text);
    return isOpen ? defect : undefined;
  }
  const request = requestOf(call, scope);
  if (request === undefined || (request.url !== undefined && !goesElsewhere(request.url, scope)))
    return undefined;
  if (request.url === undefined && request.client === 'http' && isLocalByDefault(request.options, scope))
    return undefined;
  if (ENDS_ELSEWHERE[request.client].test(text) || isEndedAround(ancestors)) return undefined;
  return lacks(request.options, ENDS[request.client], scope) ? defect : undefined;
}

/** Without a host `http.request` speaks to this machine. */
const isLocalByDefault = (options: Node | undefined, scope: Scope): boolean =>
  lacks(options, ['host', 'hostname'], scope);

const ENDING = /time-?out|deadline|^race$|abort/i;

/** `Promise.race([fetch(url), …])`, `withTimeout(() => fetch(url))`. */
const isEndedAround = (ancestors: readonly Node[]): boolean =>
  ancestors.some((node) => node.type === 'CallExpression' && ENDING.test(calledName(node.callee)));

/** A request that is a statement: neither awaited, nor returned, nor caught, nor marked as meant by `void`. */
export function checkUnawaited(
  { expression }: NodeOf<'ExpressionStatement'>,
  scope: Scope,
  source: SourceText,
): Defect | undefined {
  const request = requestBehind(expression, scope);
  if (request?.url === undefined || !goesElsewhere(request.url, scope)) return undefined;
  if (request.client === 'http' || !lacks(request.options, ['keepalive'], scope)) return undefined;
  return isExplained(source, expression)
    ? undefined
    : { rule: 'integrations.unawaited-request', offset: expression.start };
}

/** The request that a chain of `then`s without a way out begins with. */
function requestBehind(expression: Node, scope: Scope): Request | undefined {
  const node = unwrapped(expression);
  if (node.type !== 'CallExpression') return undefined;
  const request = requestOf(node, scope);
  if (request !== undefined) return request;
  const callee = unwrapped(node.callee);
  const isThen =
    callee.type === 'MemberExpression' && calledName(callee) === 'then' && node.arguments.length < 2;
  return isThen ? requestBehind(callee.object, scope) : undefined;
}
