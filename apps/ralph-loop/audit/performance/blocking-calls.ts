import { functionAround, isFunction } from '../syntax/function.ts';
import { keyName, type Node, type NodeOf, unwrapped } from '../syntax/node.ts';
import { referenceOf } from '../syntax/reference.ts';
import type { Scope } from '../syntax/scopes.ts';

/** Takes long enough for others to notice: a process, a key derived from a password. */
const SLOW =
  /^(?:child_process:(?:exec|execFile|spawn)Sync|crypto:(?:pbkdf2|scrypt|argon2|generateKeyPair|generatePrime)Sync|bcrypt(?:js)?:(?:hash|compare|genSalt)Sync)$/;
/** Waits for a disk, or computes; short by itself, long when it comes with every request. */
const SHORT =
  /^(?:fs:(?:read|write|append|copy|cp|rm|readdir|mkdir|unlink|rename|stat|lstat|open)(?:File|dir)?Sync|zlib:\w+Sync)$/;

/** Kept after the first time: `cache ??= readFileSync(…)`. */
const isKept = (node: Node): boolean =>
  node.type === 'AssignmentExpression' && /^(\?\?|\|\|)=$/.test(node.operator);

/** The rule that a call breaks by not giving its thread back until it is done. */
export function checkBlockingCall(
  call: NodeOf<'CallExpression'>,
  scope: Scope,
  ancestors: readonly Node[],
): string | undefined {
  const called = referenceOf(call.callee, scope);
  const isSlow = called !== undefined && SLOW.test(called);
  if (called === undefined || (!isSlow && !SHORT.test(called)) || ancestors.some(isKept)) return undefined;
  if (ancestors.some((node, index) => isHandler(node, ancestors[index - 1], scope))) {
    return 'performance.sync-in-handler';
  }
  return isSlow && functionAround(ancestors)?.async ? 'performance.sync-in-async' : undefined;
}

const ROUTES = new Set(['get', 'post', 'put', 'patch', 'delete', 'head', 'options', 'all', 'use']);
const ROUTERS = /^(app|router|server|api|fastify|routes?)$/i;
const SERVERS = /^(?:https?:createServer|http2:create(?:Secure)?Server|global:Deno\.serve)$/;

/** Whether a function is called with every request: given to a server, to `on('request')` or to a router. */
function isHandler(node: Node, parent: Node | undefined, scope: Scope): boolean {
  if (!isFunction(node) || parent?.type !== 'CallExpression' || parent.callee === node) return false;
  if (SERVERS.test(referenceOf(parent.callee, scope) ?? '')) return true;
  const callee = unwrapped(parent.callee);
  if (callee.type !== 'MemberExpression') return false;
  const name = keyName(callee.property, callee.computed) ?? '';
  const [first] = parent.arguments;
  const word = first?.type === 'Literal' && typeof first.value === 'string' ? first.value : undefined;
  if (name === 'on' && word === 'request') return true;
  const isRouter = callee.object.type === 'Identifier' && ROUTERS.test(callee.object.name);
  return isRouter && ROUTES.has(name) && (word?.startsWith('/') || (name === 'use' && node === first));
}
