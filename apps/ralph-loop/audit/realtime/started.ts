import { calledName } from '../syntax/called-name.ts';
import { isFunction } from '../syntax/function.ts';
import { keyName, type Node, type NodeOf, unwrapped } from '../syntax/node.ts';
import { heldValue, referenceOf } from '../syntax/reference.ts';
import { declaringScope, lookUp, type Scope } from '../syntax/scopes.ts';
import { endsByItself, type ListenCall, listenCall } from './event-calls.ts';

/**
 * Something that goes on until it is ended.
 *
 * - `endedBy`   how code looks that ends it.
 * - `isHandle`  it is ended by what starting it returned, and so only by who keeps that.
 */
export interface Started {
  readonly what: string;
  readonly endedBy: RegExp;
  readonly isHandle: boolean;
}

/** The sockets that browsers have. */
export const isSocket = (node: Node, scope: Scope): node is NodeOf<'NewExpression'> =>
  node.type === 'NewExpression' && SOCKETS.has(referenceOf(node.callee, scope) ?? '');

const SOCKETS = new Set([
  'global:WebSocket',
  'global:EventSource',
  'eventsource:*',
  'eventsource:EventSource',
]);

/** What a call or construction starts that outlives the function it stands in. */
export function startedBy(node: Node, scope: Scope): Started | undefined {
  if (isSocket(node, scope)) return { what: calledName(node.callee), endedBy: /\.close\b/, isHandle: true };
  if (node.type !== 'CallExpression') return undefined;
  if (referenceOf(node.callee, scope) === 'global:setInterval') {
    return { what: 'setInterval', endedBy: /\bclearInterval\b/, isHandle: true };
  }
  const listen = listenCall(node);
  if (listen !== undefined) return startedListening(listen, scope);
  return isSubscription(node, scope)
    ? { what: 'subscribe', endedBy: /unsubscribe/i, isHandle: false }
    : undefined;
}

function startedListening(call: ListenCall, scope: Scope): Started | undefined {
  const { method, target, event, listener } = call;
  if (event === undefined || listener === undefined || endsByItself(call)) return undefined;
  // Its name, or one that is not written out.
  const name = `\\(\\s*(['"\`]${event.replace(/\W/g, '\\$&')}['"\`]|[^'"\`\\s)])`;
  if (method === 'addEventListener') {
    const endedBy = new RegExp(`removeEventListener${name}`);
    return isOfPage(target, scope)
      ? { what: `addEventListener('${event}')`, endedBy, isHandle: false }
      : undefined;
  }
  // Other methods called `on` configure something; with a name and a function they listen.
  if (!isFunction(listener) && listener.type !== 'Identifier') return undefined;
  const endedBy = new RegExp(`(removeListener|\\boff)${name}|${ENDS_ALL.source}`);
  return isShared(target, scope) ? { what: `${method}('${event}')`, endedBy, isHandle: false } : undefined;
}

/** After these nobody listens to anything. */
const ENDS_ALL = /\b(removeAllListeners|disconnect|destroy)\(|\boff\(\)/;

/** Whether an object belongs to the page (window, document, a media query) and not to the component. */
export function isOfPage(target: Node, scope: Scope): boolean {
  const node = heldValue(target, scope);
  const asked = node.type === 'CallExpression' ? node.callee : node;
  const reference = referenceOf(asked, scope);
  return (
    reference !== undefined && (PAGE.test(reference) || (node !== asked && reference === 'global:matchMedia'))
  );
}

const PAGE =
  /^global:(\*|document(\.(body|documentElement|fonts))?|visualViewport|navigator\..+|screen(\.orientation)?|speechSynthesis)$/;

/** Something imported, made for the whole file, or handed out by a hook: it stays when the component goes. */
function isShared(target: Node, scope: Scope): boolean {
  const root = rootOf(target);
  const binding = root && lookUp(root.name, scope);
  if (root === undefined || binding?.kind === 'import') return root !== undefined;
  const value = binding?.kind === 'value' ? unwrapped(binding.value) : undefined;
  if (value?.type !== 'CallExpression' && value?.type !== 'NewExpression') return false;
  if (declaringScope(root.name, scope)?.outer === undefined) return true;
  const hook = calledName(value.callee);
  return /^use[A-Z]/.test(hook) && !HELD.test(hook);
}

/** What these hooks hand out belongs to the component itself. */
const HELD = /^use(Ref|State|Memo|Reducer|Callback)$/;

/** The name an expression of properties and calls begins with. */
function rootOf(expression: Node): NodeOf<'Identifier'> | undefined {
  const node = unwrapped(expression);
  if (node.type === 'Identifier') return node as NodeOf<'Identifier'>;
  if (node.type === 'MemberExpression') return rootOf(node.object);
  return undefined;
}

/** `store.subscribe(() => …)`; what ends by itself says so in the chain before it. */
function isSubscription({ callee, arguments: given }: NodeOf<'CallExpression'>, scope: Scope): boolean {
  const member = unwrapped(callee);
  if (member.type !== 'MemberExpression' || keyName(member.property, member.computed) !== 'subscribe')
    return false;
  const [observer] = given;
  if (observer === undefined || !(isFunction(observer) || observer.type === 'Identifier')) return false;
  return isShared(member.object, scope);
}
