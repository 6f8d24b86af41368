import { isAside } from '../aside.ts';
import type { Defect } from '../evidence.ts';
import type { FileDefects, FileScan } from '../file-scan.ts';
import { isMadeByMachine } from '../made-by-machine.ts';
import type { SourceText } from '../../findings/source-text.ts';
import { calledName } from '../syntax/called-name.ts';
import { isExplained } from '../syntax/explained.ts';
import type { Node, NodeOf } from '../syntax/node.ts';
import { isScript } from '../syntax/parse-script.ts';
import { referenceOf } from '../syntax/reference.ts';
import type { Scope } from '../syntax/scopes.ts';
import { walkScript } from '../syntax/walk-script.ts';
import { isAwaitInLoop } from './await-in-loop.ts';
import { checkBlockingCall } from './blocking-calls.ts';
import { isSearchInLoop, isSpreadAccumulator } from './list-work.ts';
import type { Place } from './place.ts';
import { SCRIPT_RULES } from './rules.ts';
import { isSlowRegex } from './slow-regex.ts';

/** Words and signs without which no rule can apply: a third of the files need not be parsed. */
const WORTH_PARSING =
  /Sync\s*\(|\bJSON\b|\breduce|\b(?:indexOf|lastIndexOf|includes|find\w*|filter|some|every)\b|\bawait\b|\)\??(?:[*+]|\{\d+,)/;

/** IO's look at scripts: work that grows faster than what is given, and threads that wait. Tests may take their time. */
export const PERFORMANCE_CHECK: FileScan = {
  rules: SCRIPT_RULES,
  nothing: 'there is no JavaScript or TypeScript to look at, tests and examples aside',
  takes: (file) => isScript(file) && !isAside(file),
  scan: checkPerformance,
};

function checkPerformance(source: SourceText): FileDefects {
  if (!WORTH_PARSING.test(source.text)) return { defects: [] };
  if (isMadeByMachine(source)) return { defects: [], generated: true };
  const defects: Defect[] = [];
  const scopes = new WeakMap<Node, Scope>();
  const scopeOf = (node: Node): Scope | undefined => scopes.get(node);
  const unparsable = walkScript(source, (node, scope, ancestors) => {
    if (node.type === 'CallExpression') scopes.set(node, scope);
    // The scope of a loop holds its item; what it goes through is named outside.
    if (node.type === 'ForOfStatement' && scope.outer !== undefined) scopes.set(node, scope.outer);
    const rule = check(node, { source, scope, ancestors, scopeOf });
    if (rule !== undefined) defects.push({ rule, offset: node.start });
  });
  return { defects, unparsable };
}

function check(node: Node, place: Place): string | undefined {
  if (isSlowRegex(node, place.scope)) return 'performance.slow-regex';
  if (node.type === 'CallExpression') return checkCall(node, place);
  return node.type === 'ForOfStatement' && isAwaitInLoop(node, place.scope)
    ? 'performance.await-in-loop'
    : undefined;
}

function checkCall(call: NodeOf<'CallExpression'>, place: Place): string | undefined {
  if (isJsonCopy(call, place)) return 'performance.json-copy';
  if (isSpreadAccumulator(call, place) && !isExplained(place.source, call))
    return 'performance.spread-accumulator';
  if (isSearchInLoop(call, place)) return 'performance.search-in-loop';
  return checkBlockingCall(call, place.scope, place.ancestors);
}

/** With a reviver or a replacer it is no copy, nor where the text is what counts: given to a parser, or explained. */
function isJsonCopy(call: NodeOf<'CallExpression'>, { scope, ancestors, source }: Place): boolean {
  const [written, ...revivers] = call.arguments;
  if (written?.type !== 'CallExpression' || revivers.length > 0 || written.arguments.length !== 1)
    return false;
  const user = ancestors.at(-1);
  const isParsed =
    user?.type === 'CallExpression' && /parse|validate|decode|schema/i.test(calledName(user.callee));
  return (
    !isParsed &&
    referenceOf(call.callee, scope) === 'global:JSON.parse' &&
    referenceOf(written.callee, scope) === 'global:JSON.stringify' &&
    // Who uses both knows the difference.
    !source.text.includes('structuredClone') &&
    !isExplained(source, call)
  );
}
