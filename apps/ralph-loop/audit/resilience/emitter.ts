import { keyName, type Node } from '../syntax/node.ts';

/** Methods that return the object they are called on. */
const FLUENT = new Set([
  'on',
  'once',
  'addListener',
  'prependListener',
  'prependOnceListener',
  'off',
  'setEncoding',
  'setNoDelay',
  'setKeepAlive',
  'setTimeout',
  'resume',
  'pause',
]);

/** Methods that add a listener. */
export const LISTENS = new Set([
  'on',
  'once',
  'addListener',
  'addEventListener',
  'prependListener',
  'prependOnceListener',
]);

/** Something that dies of an error that nobody listens to. */
export interface Emitter {
  readonly offset: number;
  readonly what: string;
  isHeard: boolean;
  /** It was given to somebody who may listen. */
  isGivenAway: boolean;
}

/** How many nodes above a use are looked at: six calls in a chain. */
export const MAX_CHAIN = 12;

/** Notes what a use of an emitter's name says; `path` is the nodes around the name, and the name last. */
export function use(emitter: Emitter, path: readonly Node[]): void {
  const end = followChain(emitter, path);
  const parent = path[end - 1];
  const isOnlyCalled = parent?.type === 'ExpressionStatement' || parent?.type === 'MemberExpression';
  if (!isOnlyCalled) emitter.isGivenAway = true;
}

/**
 * Follows calls on the last node of `path`, `a.on(…).on(…)`, upwards, and notes who listens to errors.
 *
 * Returns the index in `path` of the outermost node that still is the emitter.
 */
export function followChain(emitter: Emitter, path: readonly Node[]): number {
  let at = path.length - 1;
  for (;;) {
    const [member, call] = [path[at - 1], path[at - 2]];
    if (member?.type === 'ChainExpression' || member?.type === 'TSNonNullExpression') {
      at -= 1;
      continue;
    }
    if (member?.type !== 'MemberExpression' || member.object !== path[at]) return at;
    const name = keyName(member.property, member.computed);
    if (name === 'onerror' || name === undefined) emitter.isHeard = true;
    if (call?.type !== 'CallExpression' || call.callee !== member) {
      if (name !== undefined && LISTENS.has(name)) emitter.isGivenAway = true;
      return at;
    }
    if (name !== undefined && LISTENS.has(name) && mayBeError(call.arguments[0])) emitter.isHeard = true;
    if (name === undefined || !FLUENT.has(name)) return at;
    at -= 2;
  }
}

const mayBeError = (event: Node | undefined): boolean => event?.type !== 'Literal' || event.value === 'error';
