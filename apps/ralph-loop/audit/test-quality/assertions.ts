import { isBuiltin } from 'node:module';
import { keyName, type Node, type NodeOf, unwrapped } from '../syntax/node.ts';
import { lookUp, type Scope, walk } from '../syntax/scopes.ts';
import { isInTestFolder } from './test-files.ts';

/** Followed this far from a name to what it was made of. */
const MAX_STEPS = 12;

/** Part of a name that promises to look at something. */
const ASSERTIVE =
  /expect|assert|should|verif|check|ensure|valid|must|fail|throw|reject|match|snapshot|equal|await|wait|until|stub|mockserver|\bcy\b/i;
/** Part of an import's path that speaks of something made for tests. */
const FOR_TESTS =
  /test|spec|helper|util|support|fixture|mock|stub|harness|fake|assert|expect|e2e|suite|common|shared|setup|kit/i;

/** Globals that surely assert nothing. */
const HARMLESS_GLOBALS = new Set(
  (
    'console JSON Math Object Array Number String Boolean Date Map Set WeakMap WeakSet Symbol BigInt Reflect RegExp Error ' +
    'Buffer URL URLSearchParams TextEncoder TextDecoder AbortController AbortSignal ArrayBuffer Uint8Array process ' +
    'setTimeout setInterval setImmediate clearTimeout clearInterval queueMicrotask structuredClone fetch document window ' +
    'localStorage sessionStorage navigator performance jest vi parseInt parseFloat beforeEach afterEach'
  ).split(' '),
);

/** Modules of the frameworks: what asserts in them is called so. */
const FRAMEWORK = /^(vitest|@jest\/globals|sinon|node:test)$/;

/**
 * Says whether code of one file may assert something.
 *
 * Only what surely does not counts as "no": calls of the file's own functions, of imports from beside the tested code, of
 * built-in modules and globals. Helpers of tests, packages and fixtures may do anything.
 */
export class AssertionSearch {
  readonly #file: string;
  readonly #text: string;
  readonly #functions = new Map<string, { readonly node: Node; readonly scope: Scope }[]>();
  readonly #answers = new Map<Node, boolean>();
  /** What is being looked through, and whether that met itself again: then a "no" holds only for the whole of it. */
  readonly #looking = new Set<Node>();
  #isCircular = false;

  /** `program` is walked once for its functions. */
  constructor({ file, text }: { readonly file: string; readonly text: string }, program: Node) {
    this.#file = file;
    this.#text = text;
    walk(program, (node, scope) => {
      if (node.type !== 'FunctionDeclaration' || node.id === null) return;
      const same = this.#functions.get(node.id.name) ?? [];
      this.#functions.set(node.id.name, [...same, { node, scope: scope.outer as Scope }]);
    });
  }

  /** Whether running `code`, which stands in `outer`, may assert. */
  mayAssert(code: Node, outer: Scope): boolean {
    const known = this.#answers.get(code);
    if (known !== undefined) return known;
    if (this.#looking.has(code)) {
      this.#isCircular = true;
      return false;
    }
    this.#looking.add(code);
    const may = this.#holdsAssertion(code, outer);
    this.#looking.delete(code);
    if (may || !this.#isCircular) this.#answers.set(code, may);
    if (this.#looking.size === 0) this.#isCircular = false;
    return may;
  }

  #holdsAssertion(code: Node, outer: Scope): boolean {
    let may = this.#text.slice(code.start, code.end).includes('@ts-expect-error');
    const look = (node: Node, scope: Scope): void => {
      may ||= this.#isAssertion(node, scope);
    };
    walk(code, look, outer);
    return may;
  }

  #isAssertion(node: Node, scope: Scope): boolean {
    switch (node.type) {
      case 'ThrowStatement':
      case 'ImportExpression':
        return true;
      case 'MemberExpression':
        return ASSERTIVE.test(keyName(node.property, node.computed) ?? '');
      case 'CallExpression':
        return this.#callMayAssert(node, scope);
      case 'NewExpression':
        return !this.#isHarmless(node.callee, scope);
      case 'TaggedTemplateExpression':
        return !this.#isHarmless(node.tag, scope);
      default:
        return false;
    }
  }

  #callMayAssert({ callee, arguments: given }: NodeOf<'CallExpression'>, scope: Scope): boolean {
    return (
      !this.#isHarmless(callee, scope) ||
      given.some((one) => one.type === 'Identifier' && !this.#isHarmlessValue(one, scope))
    );
  }

  /** A function that is handed on by name is called by somebody. */
  #isHarmlessValue(given: NodeOf<'Identifier'>, scope: Scope): boolean {
    const binding = lookUp(given.name, scope);
    if (binding?.kind === 'other' && this.#functions.has(given.name)) return this.#isHarmless(given, scope);
    return !ASSERTIVE.test(given.name);
  }

  #isHarmless(callee: Node, scope: Scope, steps = MAX_STEPS): boolean {
    if (steps === 0) return false;
    const node = unwrapped(callee);
    switch (node.type) {
      case 'Identifier':
        return this.#isHarmlessName(node.name, scope, steps);
      case 'MemberExpression':
        return (
          !ASSERTIVE.test(keyName(node.property, node.computed) ?? '') &&
          this.#isHarmless(node.object, scope, steps - 1)
        );
      case 'CallExpression':
      case 'NewExpression':
        return this.#isHarmless(node.callee, scope, steps - 1);
      case 'AwaitExpression':
        return this.#isHarmless(node.argument, scope, steps - 1);
      // What a function written here does is walked where it stands.
      case 'ArrowFunctionExpression':
      case 'FunctionExpression':
      case 'Literal':
      case 'TemplateLiteral':
      case 'ArrayExpression':
        return true;
      default:
        return false;
    }
  }

  #isHarmlessName(name: string, scope: Scope, steps: number): boolean {
    if (ASSERTIVE.test(name)) return false;
    const binding = lookUp(name, scope);
    if (binding === undefined) return HARMLESS_GLOBALS.has(name);
    switch (binding.kind) {
      case 'import':
        return this.#isHarmlessModule(binding.module);
      case 'value': {
        const value = unwrapped(binding.value);
        if (value.type === 'ArrowFunctionExpression' || value.type === 'FunctionExpression')
          return !this.mayAssert(value, scope);
        return binding.isConst && this.#isHarmless(value, scope, steps - 1);
      }
      case 'member':
        return this.#isHarmless(binding.of, scope, steps - 1);
      case 'other': {
        const functions = this.#functions.get(name) ?? [];
        return functions.length > 0 && functions.every(({ node, scope: at }) => !this.mayAssert(node, at));
      }
    }
  }

  #isHarmlessModule(module: string): boolean {
    if (isBuiltin(module)) return !/^(node:)?assert\b/.test(module);
    if (FRAMEWORK.test(module)) return true;
    if (!module.startsWith('.') || FOR_TESTS.test(module)) return false;
    return !(module.startsWith('./') && isInTestFolder(this.#file));
  }
}
