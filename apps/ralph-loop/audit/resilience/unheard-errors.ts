import type { Defect } from '../evidence.ts';
import { type FunctionNode, isFunction } from '../syntax/function.ts';
import type { Node, NodeOf } from '../syntax/node.ts';
import { referenceOf } from '../syntax/reference.ts';
import { declaringScope, type Scope } from '../syntax/scopes.ts';
import { handsConnections } from './connection-handlers.ts';
import { type Emitter, followChain, MAX_CHAIN, use } from './emitter.ts';

/** Calls whose result dies of an error that nobody listens to, by what they make. */
const MAKES: Readonly<Record<string, string>> = {
  'child_process:spawn': 'child process',
  'child_process:fork': 'child process',
  'fs:createReadStream': 'stream',
  'fs:createWriteStream': 'stream',
  'net:connect': 'socket',
  'net:createConnection': 'socket',
  'tls:connect': 'socket',
  'http:request': 'request',
  'http:get': 'request',
  'https:request': 'request',
  'https:get': 'request',
  'http2:connect': 'session',
};
const NEW_MAKES: Readonly<Record<string, string>> = {
  'worker_threads:Worker': 'worker thread',
  'net:Socket': 'socket',
  'ws:*': 'socket',
  'ws:WebSocket': 'socket',
};

/** Words without one of which a file makes none of them. */
const MODULES = /child_process|worker_threads|\b(?:fs|net|tls|https?|http2|ws)['"]/;

/**
 * Finds what is created in a file and emits 'error' with nobody listening, in one walk over it.
 *
 * Only what never leaves the file's sight is reported: neither returned, passed on, exported nor stored.
 */
export class UnheardErrors {
  readonly #lost: Emitter[] = [];
  readonly #named = new Map<Scope, Map<string, Emitter>>();
  /** Uses may stand before the declaration is walked, as in a function above it. */
  readonly #uses: { readonly name: string; readonly scope: Scope; readonly ancestors: readonly Node[] }[] =
    [];

  readonly #isNeeded: boolean;

  /** `text` is the file's. */
  constructor(text: string) {
    this.#isNeeded = MODULES.test(text);
  }

  visit(node: Node, scope: Scope, ancestors: readonly Node[]): void {
    if (!this.#isNeeded) return;
    if (node.type === 'CallExpression' || node.type === 'NewExpression')
      this.#created(node, scope, ancestors);
    if (isFunction(node)) this.#connected(node, scope, ancestors);
    if (node.type === 'Identifier' && this.#mayBeUse(node, ancestors)) {
      this.#uses.push({ name: node.name, scope, ancestors: [...ancestors.slice(-MAX_CHAIN), node] });
    }
  }

  /** To be called when the whole file was walked. */
  defects(): Defect[] {
    for (const { name, scope, ancestors } of this.#uses) {
      const declared = declaringScope(name, scope);
      const emitter = declared && this.#named.get(declared)?.get(name);
      if (emitter !== undefined) use(emitter, ancestors);
    }
    const named = [...this.#named.values()].flatMap((names) => [...names.values()]);
    return [...this.#lost, ...named]
      .filter(({ isHeard, isGivenAway }) => !isHeard && !isGivenAway)
      .map(({ offset, what }) => ({ rule: 'resilience.unheard-error', offset, message: messageOf(what) }));
  }

  #created(node: NodeOf<'CallExpression' | 'NewExpression'>, scope: Scope, ancestors: readonly Node[]): void {
    const called = referenceOf(node.callee, scope);
    const what = called && (node.type === 'NewExpression' ? NEW_MAKES : MAKES)[called];
    if (what === undefined || what === '') return;
    const emitter: Emitter = { offset: node.start, what, isHeard: false, isGivenAway: false };
    const path = [...ancestors, node];
    const end = followChain(emitter, path);
    const parent = path[end - 1];
    if (emitter.isHeard || parent === undefined) return;
    if (parent.type === 'ExpressionStatement' || parent.type === 'MemberExpression') this.#lost.push(emitter);
    const isExported = path[end - 3]?.type === 'ExportNamedDeclaration';
    if (parent.type === 'VariableDeclarator' && !isExported) this.#declared(parent, emitter, scope);
  }

  #declared({ id }: NodeOf<'VariableDeclarator'>, emitter: Emitter, scope: Scope): void {
    if (id.type === 'ObjectPattern') this.#lost.push(emitter);
    if (id.type === 'Identifier') this.#name(id.name, declaringScope(id.name, scope), emitter);
  }

  /** The first parameter of the function that a server calls with every connection. */
  #connected(node: FunctionNode, scope: Scope, ancestors: readonly Node[]): void {
    const call = ancestors.at(-1);
    if (call?.type !== 'CallExpression') return;
    const [socket] = node.params;
    if (socket?.type !== 'Identifier' || !handsConnections(call, node, scope)) return;
    const emitter = { offset: socket.start, what: 'connection', isHeard: false, isGivenAway: false };
    this.#name(socket.name, scope, emitter);
  }

  #name(name: string, scope: Scope | undefined, emitter: Emitter): void {
    if (scope === undefined) return;
    const names = this.#named.get(scope) ?? new Map<string, Emitter>();
    this.#named.set(scope, names.set(name, emitter));
  }

  /** Declarations and names of members are no uses. */
  #mayBeUse(node: NodeOf<'Identifier'>, ancestors: readonly Node[]): boolean {
    const parent = ancestors.at(-1);
    if (parent?.type === 'MemberExpression') return parent.object === node || parent.computed;
    if (parent?.type === 'Property') return parent.value === node || parent.computed;
    if (parent?.type === 'VariableDeclarator') return parent.init === node;
    if (parent !== undefined && isFunction(parent)) return parent.body === node;
    return true;
  }
}

const messageOf = (what: string): string =>
  `Nobody listens to the 'error' event of this ${what}; an error ends the process`;
