import type { AST } from '@eslint-community/regexpp';
import scslre, { type Report } from 'scslre';
import type { Node } from '../syntax/node.ts';
import { referenceOf } from '../syntax/reference.ts';
import type { Scope } from '../syntax/scopes.ts';
import { canFailAfter } from './rejecting-end.ts';

/** Longer ones are made by programs, and would take long to look at. */
const MAX_PATTERN = 1_000;

/** Whether a regular expression, as `/…/` or `new RegExp('…')`, backtracks exponentially on a text that does not match. */
export function isSlowRegex(node: Node, scope: Scope): boolean {
  const pattern = patternOf(node, scope);
  if (pattern === undefined || !mayRepeatRepeats(pattern.source)) return false;
  try {
    const { reports } = scslre.analyse(pattern, { reportTypes: { Move: false } });
    return reports.some((report) => report.exponential && canFailAfter(outermost(report)));
  } catch {
    // No regular expression of this language, or one whose states are too many to follow.
    return false;
  }
}

interface Pattern {
  readonly source: string;
  readonly flags: string;
}

function patternOf(node: Node, scope: Scope): Pattern | undefined {
  if (node.type === 'Literal' && 'regex' in node)
    return { source: node.regex.pattern, flags: node.regex.flags };
  if (node.type !== 'NewExpression' && node.type !== 'CallExpression') return undefined;
  const [source, flags] = node.arguments;
  if (source?.type !== 'Literal' || typeof source.value !== 'string') return undefined;
  if (referenceOf(node.callee, scope) !== 'global:RegExp') return undefined;
  return { source: source.value, flags: flags?.type === 'Literal' ? String(flags.value) : '' };
}

/** Nothing is exponential without a repeated group that holds a repetition. */
const mayRepeatRepeats = (source: string): boolean =>
  source.length <= MAX_PATTERN && /[*+}].*\)\??(?:[*+]|\{\d+,)/s.test(source);

/** The repetition in which a report's ambiguity lies. */
function outermost(report: Report): AST.Quantifier {
  if (report.type === 'Self') return report.parentQuant;
  let found: AST.Quantifier = report.type === 'Trade' ? report.endQuant : report.quant;
  for (let node: AST.Node | null = found; node !== null; node = node.parent) {
    if (node.type === 'Quantifier') found = node;
  }
  return found;
}
