import type { Defect } from '../evidence.ts';
import type { FileDefects, FileScan } from '../file-scan.ts';
import { isMadeByMachine } from '../made-by-machine.ts';
import type { SourceText } from '../../findings/source-text.ts';
import { keyName, type Node, type NodeOf } from '../syntax/node.ts';
import { isScript } from '../syntax/parse-script.ts';
import type { Scope } from '../syntax/scopes.ts';
import { walkScript } from '../syntax/walk-script.ts';
import { AssertionSearch } from './assertions.ts';
import { checkStatement } from './expectations.ts';
import { TEST_RULES } from './rules.ts';
import { isTestFile } from './test-files.ts';
import { type FunctionNode, type TestCall, testCall } from './test-calls.ts';
import { literalTitle, TitleRegister } from './test-titles.ts';

/** Words without which a file outside the folders of tests declares none. */
const WORTH_PARSING = /\b(vitest|jest|mocha|node:test|bun:test|playwright|ava|assert|expect)\b/;

/** SATURN's job: tests that do not run, or that nothing can make fail. */
export const TESTS_CHECK: FileScan = {
  rules: TEST_RULES,
  nothing: 'there is no JavaScript or TypeScript to look at',
  takes: isScript,
  scan: checkTests,
};

function checkTests(source: SourceText): FileDefects {
  if (!WORTH_PARSING.test(source.text) && !isTestFile(source.file)) return { defects: [] };
  if (isMadeByMachine(source)) return { defects: [], generated: true };
  const found = new TestFile(source);
  const unparsable = walkScript(source, found.visit);
  return unparsable === undefined ? { defects: found.defects } : { defects: [], unparsable };
}

class TestFile {
  readonly defects: Defect[] = [];
  readonly #source: SourceText;
  readonly #isTestFile: boolean;
  readonly #titles = new TitleRegister();
  #search: AssertionSearch | undefined;

  constructor(source: SourceText) {
    this.#source = source;
    this.#isTestFile = isTestFile(source.file);
  }

  readonly visit = (node: Node, scope: Scope, ancestors: readonly Node[]): void => {
    if (node.type === 'ExpressionStatement') {
      const rule = checkStatement(node, scope, this.#isTestFile);
      if (rule === 'tests.constant-assertion' && COUNTED.test(this.#source.text)) return;
      if (rule !== undefined) this.defects.push({ rule, offset: node.start });
    } else if (node.type === 'CallExpression') {
      const test = testCall(node, scope, this.#isTestFile);
      if (test !== undefined) this.#declared(node, test, scope, ancestors);
    }
  };

  #declared(call: NodeOf<'CallExpression'>, test: TestCall, scope: Scope, ancestors: readonly Node[]): void {
    const report = (rule: string, message?: string): void => {
      this.defects.push({ rule, offset: call.start, ...(message === undefined ? {} : { message }) });
    };
    const isSkipped = isTurned('skip', test) || test.modifiers.has('fixme');
    if (isTurned('only', test)) report('tests.focused');
    if (isSkipped) report('tests.skipped');
    const earlier = this.#titles.earlier(call, test, ancestors);
    if (earlier !== undefined) {
      const { line } = this.#source.positionAt(earlier.start);
      report(
        'tests.duplicate-title',
        `The ${test.kind} at line ${line} has the same title in the same block`,
      );
    }
    if (test.kind === 'suite' || isSkipped || test.modifiers.has('todo') || test.body === undefined) return;
    const { body } = test.body;
    if (body !== null && body.type === 'BlockStatement' && body.body.length === 0) report('tests.empty');
    else if (!this.#asserts(test, scope, ancestors)) report('tests.no-assertion');
  }

  /** A test given a `done` or a fixture may leave the asserting to it. */
  #asserts({ body, ...test }: TestCall, scope: Scope, ancestors: readonly Node[]): boolean {
    if (
      body === undefined ||
      isOfTypes(body) ||
      SUCCEEDS_BY_RUNNING.test(literalTitle({ body, ...test })?.slice(0, LONGEST_TITLE) ?? '')
    )
      return true;
    this.#search ??= new AssertionSearch(this.#source, ancestors[0] as Node);
    return this.#search.mayAssert(body, scope);
  }
}

/** Where assertions are counted, one that always holds says that it was reached. */
const COUNTED = /\.(plan|assertions|hasAssertions)\(/;

/** A body of types is for the compiler to judge. */
const isOfTypes = ({ body }: FunctionNode): boolean =>
  body !== null &&
  body.type === 'BlockStatement' &&
  body.body.every(({ type }) => type === 'TSTypeAliasDeclaration' || type === 'TSInterfaceDeclaration');

const LONGEST_TITLE = 300;
/** Titles of tests that pass when nothing is thrown. */
const SUCCEEDS_BY_RUNNING =
  /\b(not|never|without|no)\b.*\b(throw|throws|throwing|crash|crashes|fail|fails|error|errors|warn|hang)|smoke|compile|survive|accept|allow|toler|ignor|noop|no-op|idempotent|twice|silent|render|mount|type/i;

/** By a modifier or by the options; an option with a condition or a variable may be either. */
function isTurned(modifier: 'only' | 'skip', { modifiers, options, body }: TestCall): boolean {
  // Without a body `test.skip()` skips the test it stands in, if its condition holds.
  if (modifiers.has(modifier)) return modifier === 'only' || body !== undefined;
  return (options?.properties ?? []).some((property) => {
    if (property.type !== 'Property' || keyName(property.key, property.computed) !== modifier) return false;
    const { value } = property;
    return value.type === 'Literal' && (value.value === true || typeof value.value === 'string');
  });
}
