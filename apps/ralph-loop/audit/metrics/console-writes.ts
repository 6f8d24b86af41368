import type { Defect } from '../evidence.ts';
import type { SourceText } from '../../findings/source-text.ts';
import { isExplained } from '../syntax/explained.ts';
import { type FunctionNode, functionAround, isFunction } from '../syntax/function.ts';
import type { Node } from '../syntax/node.ts';
import { referenceOf } from '../syntax/reference.ts';
import { walkScript } from '../syntax/walk-script.ts';

/** `console.warn` and `console.error` are for what a user of the library should see. */
const WRITES = /^global:console\.(log|debug|dir|table)$/;
/** Whoever calls a function of such a name wants to see something. */
const SHOWS = /log|print|debug|verbose|trace|report|show|dump|inspect/i;

/** What a script writes to the console without being asked to. */
export function findConsoleWrites(source: SourceText): Defect[] {
  if (!/\bconsole\b/.test(source.text)) return [];
  const defects: Defect[] = [];
  walkScript(source, (node, scope, ancestors) => {
    if (node.type !== 'CallExpression' || ancestors.at(-1)?.type !== 'ExpressionStatement') return;
    if (!WRITES.test(referenceOf(node.callee, scope) ?? '')) return;
    if (isExplained(source, node) || isAskedFor(ancestors, source) || isLogger(functionAround(ancestors)))
      return;
    defects.push({ rule: 'metrics.console-log', offset: node.start });
  });
  return defects;
}

/** Whether it stands behind a switch, or in something that is there to show things. */
const isAskedFor = (ancestors: readonly Node[], { text }: SourceText): boolean =>
  ancestors.some((node, index) => {
    if (node.type === 'IfStatement') return SHOWS.test(text.slice(node.test.start, node.test.end));
    if (isFunction(node)) return SHOWS.test(nameOf(node, ancestors[index - 1]));
    return node.type === 'ClassDeclaration' && SHOWS.test(node.id?.name ?? '');
  });

/** `(line) => { console.log(line); }` stands where a logger can be given. */
const isLogger = (around: FunctionNode | undefined): boolean =>
  around?.body?.type === 'BlockStatement' && around.body.body.length === 1 && around.params.length > 0;

/** The name of a function, or of what it is given to. */
function nameOf(node: Node, parent: Node | undefined): string {
  if (isFunction(node) && node.id !== null) return node.id.name;
  if (parent?.type === 'VariableDeclarator' && parent.id.type === 'Identifier') return parent.id.name;
  if (
    parent?.type === 'Property' ||
    parent?.type === 'MethodDefinition' ||
    parent?.type === 'PropertyDefinition'
  ) {
    return parent.key.type === 'Identifier' || parent.key.type === 'PrivateIdentifier' ? parent.key.name : '';
  }
  return '';
}
