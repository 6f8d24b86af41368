import type { Defect } from '../evidence.ts';
import { calledName } from '../syntax/called-name.ts';
import { keyName, type Node, type NodeOf } from '../syntax/node.ts';
import type { Scope } from '../syntax/scopes.ts';
import { listenAssignment, listenCall } from './event-calls.ts';
import { isSocket } from './started.ts';

const TELLS = new Set(['error', 'close']);

interface Socket {
  readonly offset: number;
  readonly type: string;
}

/**
 * Finds the sockets of browsers whose failure nobody notices, in one walk over a file.
 *
 * A socket is known by the name that holds it, a variable's or a property's, wherever that stands in the file. One that
 * is passed on, returned, exported or held by several names is somebody else's to watch.
 */
export class UnwatchedSockets {
  readonly #sockets = new Map<string, Socket[]>();
  /** Names of sockets to whose end somebody listens, or somebody else may. */
  readonly #watched = new Set<string>();

  visit(node: Node, scope: Scope, ancestors: readonly Node[]): void {
    if (isSocket(node, scope)) this.#made(node, ancestors);
    else if (node.type === 'Identifier' || node.type === 'MemberExpression') this.#mentioned(node, ancestors);
  }

  get defects(): Defect[] {
    return [...this.#sockets]
      .filter(([name]) => !this.#watched.has(name))
      .flatMap(([, sockets]) => sockets)
      .map(({ offset, type }) => ({
        rule: 'realtime.socket-unwatched',
        offset,
        message: `Nobody listens to 'error'${type === 'WebSocket' ? " or 'close'" : ''} of this ${type}`,
      }));
  }

  #made(node: NodeOf<'NewExpression'>, ancestors: readonly Node[]): void {
    const name = holderOf(node, ancestors);
    if (name === undefined) return;
    const sockets = this.#sockets.get(name) ?? [];
    this.#sockets.set(name, [...sockets, { offset: node.start, type: calledName(node.callee) }]);
  }

  #mentioned(node: NodeOf<'Identifier'> | NodeOf<'MemberExpression'>, ancestors: readonly Node[]): void {
    const name = node.type === 'Identifier' ? node.name : keyName(node.property, node.computed);
    if (name === undefined) return;
    if (!isPlainUse(node, ancestors)) this.#watched.add(name);
  }
}

/** Whether a mention of a socket neither watches it nor hands it on. */
function isPlainUse(node: Node, ancestors: readonly Node[]): boolean {
  let at = ancestors.length - 1;
  let inner = node;
  for (; WRAPPERS.has(ancestors[at]?.type as Node['type']); at--) inner = ancestors[at] as Node;
  const above = ancestors[at];
  if (above === undefined || above.type.startsWith('TS')) return true;
  switch (above.type) {
    case 'MemberExpression':
      return above.object !== inner || !isWatching(above, ancestors.slice(0, at));
    case 'AssignmentExpression':
    case 'VariableDeclarator':
      return (above.type === 'AssignmentExpression' ? above.left : above.id) === inner;
    case 'Property':
      return above.key === inner && above.value !== inner && !above.shorthand;
    case 'PropertyDefinition':
      return above.key === inner;
    case 'LogicalExpression':
      return above.left === inner;
    case 'ConditionalExpression':
      return above.test === inner;
    default:
      return PLAIN.has(above.type);
  }
}

const WRAPPERS = new Set<Node['type']>(['TSNonNullExpression', 'TSAsExpression', 'ParenthesizedExpression']);
const PLAIN = new Set<Node['type']>([
  'BinaryExpression',
  'UnaryExpression',
  'IfStatement',
  'WhileStatement',
  'ExpressionStatement',
  'ChainExpression',
]);

/** `socket.onclose = …`, `socket.addEventListener('error', …)`, and listening to what is not written out. */
function isWatching(member: NodeOf<'MemberExpression'>, ancestors: readonly Node[]): boolean {
  const above = ancestors.at(-1);
  if (above?.type === 'AssignmentExpression' && above.left === member) {
    return TELLS.has(listenAssignment(above)?.event ?? '') || member.computed;
  }
  if (above?.type !== 'CallExpression' || above.callee !== member) return false;
  const listen = listenCall(above);
  return listen !== undefined && (listen.event === undefined || TELLS.has(listen.event));
}

/** The name of the variable or property that a new socket is put into. */
function holderOf(node: Node, ancestors: readonly Node[]): string | undefined {
  const [above, further] = [ancestors.at(-1), ancestors.at(-3)];
  if (above?.type === 'VariableDeclarator' && above.id.type === 'Identifier') {
    return further?.type === 'ExportNamedDeclaration' ? undefined : above.id.name;
  }
  if (
    above?.type !== 'AssignmentExpression' ||
    above.right !== node ||
    ancestors.at(-2)?.type !== 'ExpressionStatement'
  ) {
    return undefined;
  }
  const { left } = above;
  if (left.type === 'Identifier') return left.name;
  return left.type === 'MemberExpression' ? keyName(left.property, left.computed) : undefined;
}
