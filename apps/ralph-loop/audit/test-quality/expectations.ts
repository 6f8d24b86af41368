import { keyName, type Node, type NodeOf, unwrapped } from '../syntax/node.ts';
import { isConstant, referenceOf } from '../syntax/reference.ts';
import type { Scope } from '../syntax/scopes.ts';

/**
 * The rule that a statement breaks which looks like an assertion and asserts nothing, or nothing in time.
 *
 * `isTestFile` says whether `expect` may be a framework's global.
 */
export function checkStatement(
  { expression }: NodeOf<'ExpressionStatement'>,
  scope: Scope,
  isTestFile: boolean,
): string | undefined {
  const node = unwrapped(expression);
  const expectation = expectationOf(node, scope);
  if (expectation !== undefined) {
    return expectation.module === 'global' && !isTestFile ? undefined : faultOf(expectation, node, scope);
  }
  if (node.type !== 'CallExpression') return undefined;
  const called = referenceOf(node.callee, scope);
  if (called === undefined) return undefined;
  if (PROMISED_ASSERTIONS.test(called)) return 'tests.unawaited';
  const [value] = node.arguments;
  return TRUTH_ASSERTION.test(called) && value !== undefined && isTrue(value)
    ? 'tests.constant-assertion'
    : undefined;
}

const PROMISED_ASSERTIONS = /^assert(\/strict)?:(strict\.)?(rejects|doesNotReject)$/;
const TRUTH_ASSERTION = /^assert(\/strict)?:(\*|default|ok|strict|strict\.ok)$/;
const EXPECT = /^(global|vitest|@jest\/globals|@playwright\/test|bun:test|chai|expect):(expect|\*|default)$/;

/**
 * `expect(actual).not.toBe(expected)` in its parts.
 *
 * - `module`   where `expect` comes from.
 * - `given`    its arguments: the actual value, and in some libraries all the rest.
 * - `names`    what follows `expect(…)`.
 * - `matcher`  the call of the last name; undefined when none is called.
 */
interface Expectation {
  readonly module: string;
  readonly given: readonly Node[];
  readonly names: readonly string[];
  readonly matcher: NodeOf<'CallExpression'> | undefined;
}

function expectationOf(expression: Node, scope: Scope): Expectation | undefined {
  const names: string[] = [];
  let node = expression;
  for (;;) {
    if (node.type === 'MemberExpression') {
      const name = keyName(node.property, node.computed);
      if (name === undefined) return undefined;
      names.unshift(name);
      node = unwrapped(node.object);
    } else if (node.type === 'CallExpression') {
      const module = expectModule(node.callee, scope);
      if (module !== undefined) {
        const matcher = expression.type === 'CallExpression' && expression !== node ? expression : undefined;
        return { module, given: node.arguments, names, matcher };
      }
      node = unwrapped(node.callee);
    } else return undefined;
  }
}

/** Where `expect` or `expect.soft` comes from. */
function expectModule(callee: Node, scope: Scope): string | undefined {
  const node = unwrapped(callee);
  const isSoft = node.type === 'MemberExpression' && keyName(node.property, node.computed) === 'soft';
  const matched = EXPECT.exec(referenceOf(isSoft ? node.object : node, scope) ?? '');
  return matched?.[1];
}

function faultOf(expectation: Expectation, statement: Node, scope: Scope): string | undefined {
  const { module, given, names, matcher } = expectation;
  if (given.length !== 1 || names.some((name) => SETTLES.has(name))) return undefined;
  if (matcher === undefined) return hasNoMatcher(statement, names) ? 'tests.no-matcher' : undefined;
  if (names.some((name) => PROMISED.has(name))) return 'tests.unawaited';
  if (module === '@playwright/test' && ASYNC_MATCHER.test(names.at(-1) ?? '')) return 'tests.unawaited';
  const [expected] = matcher.arguments;
  return names.length === 1 && isSameConstant(given[0], names[0] as string, expected, scope)
    ? 'tests.constant-assertion'
    : undefined;
}

/** Somebody takes what becomes of the promise. */
const SETTLES = new Set(['then', 'catch', 'finally', 'notify']);
/** Vitest's and Jest's, then those of chai-as-promised. */
const PROMISED = new Set(['resolves', 'rejects', 'eventually', 'rejected', 'rejectedWith', 'fulfilled']);
/** Playwright's matchers that wait; those without one of these beginnings look at once. */
const ASYNC_MATCHER =
  /^to(?:Be(?:Attached|Checked|Disabled|Editable|Empty|Enabled|Focused|Hidden|InViewport|OK|Visible)|ContainClass|ContainText|HaveAccessible|HaveAttribute|HaveClass|HaveCount|HaveCSS|HaveId|HaveJSProperty|HaveRole|HaveScreenshot|HaveText|HaveTitle|HaveURL|HaveValue|MatchAriaSnapshot)/;

/** `expect(a)` or `expect(a).toBe` with nothing called; chai's words (`to.be.true`) assert when they are read. */
const hasNoMatcher = (statement: Node, names: readonly string[]): boolean =>
  statement.type === 'CallExpression'
    ? names.length === 0
    : /^(to[A-Z]|not$|resolves$)/.test(names.at(-1) ?? '');

function isSameConstant(
  actual: Node | undefined,
  matcher: string,
  expected: NodeOf<'CallExpression'>['arguments'][number] | undefined,
  scope: Scope,
): boolean {
  if (actual === undefined || !isConstant(actual, scope)) return false;
  if (matcher === 'toBeTruthy') return isTrue(actual);
  if (!/^(toBe|toEqual|toStrictEqual)$/.test(matcher) || expected === undefined) return false;
  const [left, right] = [unwrapped(actual), unwrapped(expected)];
  return left.type === 'Literal' && right.type === 'Literal' && left.raw === right.raw;
}

const isTrue = (node: Node): boolean => node.type === 'Literal' && node.value === true;
