import type { Defect } from '../evidence.ts';
import type { SourceText } from '../../findings/source-text.ts';
import { isFunction } from '../syntax/function.ts';
import { keyName, type Node, type NodeOf, unwrapped } from '../syntax/node.ts';
import { heldValue } from '../syntax/reference.ts';
import { lookUp, type Scope } from '../syntax/scopes.ts';

/** Any of these words in the file, and somebody may have thought of it. */
const CHECKED =
  /signature|\bsign|hmac|timingSafeEqual|verif|constructEvent|svix|secret|token|auth|x-hub|api_?key|allow_?list|\bip\b/i;

const WEBHOOK_PATH = /(^|[/_-])webhooks?([/_:-]|$)/i;
/** Next.js: the file's place is the path. */
const WEBHOOK_ROUTE = /(^|\/)app\/(.+\/)?[^/]*webhooks?[^/]*\/(.+\/)?route\.[jt]sx?$/i;

/** `app.post('/webhook', (request, response) => …)` in a file in which nothing is checked. */
export function checkWebhook(node: Node, scope: Scope, { file, text }: SourceText): Defect | undefined {
  const isWebhook = node.type === 'CallExpression' ? isRoute(node, scope) : isNextRoute(node, file);
  if (!isWebhook || CHECKED.test(text)) return undefined;
  return { rule: 'integrations.webhook-unsigned', offset: node.start };
}

/** Only a path and one function that stands in this file: middleware, and what is imported, may check. */
function isRoute({ callee, arguments: given }: NodeOf<'CallExpression'>, scope: Scope): boolean {
  const method = unwrapped(callee);
  const [path, handler, ...more] = given;
  if (method.type !== 'MemberExpression' || keyName(method.property, method.computed) !== 'post')
    return false;
  if (path?.type !== 'Literal' || typeof path.value !== 'string' || !path.value.startsWith('/')) return false;
  if (handler === undefined || more.length > 0 || !WEBHOOK_PATH.test(path.value)) return false;
  return isFunction(heldValue(handler, scope)) || isOwnFunction(unwrapped(handler), scope);
}

/** A declared function; what is imported has another kind of binding, a parameter too, but nobody posts those. */
const isOwnFunction = (handler: Node, scope: Scope): boolean =>
  handler.type === 'Identifier' && lookUp(handler.name, scope)?.kind === 'other';

function isNextRoute(node: Node, file: string): boolean {
  if (node.type !== 'ExportNamedDeclaration' || !WEBHOOK_ROUTE.test(file)) return false;
  return node.declaration?.type === 'FunctionDeclaration' && node.declaration.id?.name === 'POST';
}
