import { keyName, type Node, type NodeOf, unwrapped } from '../syntax/node.ts';

const LISTENS = new Set(['addEventListener', 'on', 'once', 'addListener']);

/**
 * `target.on('event', listener)` and the like in its parts.
 *
 * `event` is undefined when it is not written out.
 */
export interface ListenCall {
  readonly method: string;
  readonly target: Node;
  readonly event: string | undefined;
  readonly listener: Node | undefined;
  readonly options: Node | undefined;
}

/** The parts of a call that adds a listener to an object. */
export function listenCall(node: Node): ListenCall | undefined {
  if (node.type !== 'CallExpression') return undefined;
  const callee = unwrapped(node.callee);
  if (callee.type !== 'MemberExpression') return undefined;
  const method = keyName(callee.property, callee.computed);
  if (method === undefined || !LISTENS.has(method)) return undefined;
  const [event, listener, options] = node.arguments;
  return {
    method,
    target: unwrapped(callee.object),
    event: event?.type === 'Literal' && typeof event.value === 'string' ? event.value : undefined,
    listener: listener && unwrapped(listener),
    options,
  };
}

/** Whether the event is listened to only once, or until a signal says so. */
export const endsByItself = ({ method, options }: ListenCall): boolean =>
  method === 'once' ||
  (options?.type === 'ObjectExpression' &&
    options.properties.some(
      (property) =>
        property.type !== 'Property' ||
        ['once', 'signal'].includes(keyName(property.key, property.computed) ?? ''),
    ));

/** `target.onclose = listener`: the event's name without `on`, the target and the listener. */
export function listenAssignment({ left, right, operator }: NodeOf<'AssignmentExpression'>) {
  if (operator !== '=' || left.type !== 'MemberExpression') return undefined;
  const name = keyName(left.property, left.computed);
  if (name === undefined || !/^on[a-z]+$/.test(name)) return undefined;
  return { event: name.slice(2), target: unwrapped(left.object), listener: unwrapped(right) };
}
