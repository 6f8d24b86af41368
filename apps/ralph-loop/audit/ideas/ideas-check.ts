import type { Defect } from '../evidence.ts';
import type { FileDefects, FileScan } from '../file-scan.ts';
import { isMadeByMachine } from '../made-by-machine.ts';
import type { SourceText } from '../../findings/source-text.ts';
import { isExplained } from '../syntax/explained.ts';
import type { Node } from '../syntax/node.ts';
import { isScript, parseScript } from '../syntax/parse-script.ts';
import { walkScript } from '../syntax/walk-script.ts';
import { commentedCodeIn } from './commented-code.ts';
import { commentLinesOf, hasCommentLines, linesOfComment } from './comment-lines.ts';
import { FILE_RULES } from './rules.ts';
import { mayHaveTags, tagOf } from './tags.ts';

/** ANDROMEDA's look at single files: what comments say is to be done, and code that is switched off. */
export const IDEAS_CHECK: FileScan = {
  rules: FILE_RULES,
  nothing: 'there is no source to look at',
  takes: (file) => isScript(file) || hasCommentLines(file),
  scan: checkIdeas,
};

function checkIdeas(source: SourceText): FileDefects {
  if (isMadeByMachine(source)) return { defects: [], generated: true };
  if (isScript(source.file)) return checkScript(source);
  if (!mayHaveTags(source.text)) return { defects: [] };
  return { defects: [...commentLinesOf(source)].flatMap((line) => tagOf(line) ?? []) };
}

/** Settings that a program wrote with all that could be set. */
const SETTINGS = /\.config\.[cm]?[jt]s$/;

function checkScript(source: SourceText): FileDefects {
  if (!/\/[/*]|\bfalse\b|\b0\b/.test(source.text)) return { defects: [] };
  const script = parseScript(source);
  if ('unparsable' in script) return { defects: [], unparsable: script.unparsable };
  const comments = script.comments();
  const tags = mayHaveTags(source.text)
    ? comments.flatMap(({ value, start }) =>
        [...linesOfComment(value, start)].flatMap((line) => tagOf(line) ?? []),
      )
    : [];
  const code = SETTINGS.test(source.file) ? [] : commentedCodeIn(source, comments);
  return {
    defects: [
      ...tags,
      ...code.map((offset): Defect => ({ rule: 'ideas.commented-code', offset })),
      ...disabledCodeIn(source),
    ],
  };
}

const MAY_BE_DISABLED = /\b(?:if|while)\s*\(\s*(?:false|0)\b|[(;{}]\s*false\s*&&/;

function disabledCodeIn(source: SourceText): Defect[] {
  if (!MAY_BE_DISABLED.test(source.text)) return [];
  const defects: Defect[] = [];
  walkScript(source, (node) => {
    if (isNever(node) && !isExplained(source, { start: node.start, end: node.start }))
      defects.push({ rule: 'ideas.disabled-code', offset: node.start });
  });
  return defects;
}

/** `if (false)`, `while (0)` and `false && call()` as a statement. */
function isNever(node: Node): boolean {
  if (node.type === 'IfStatement' || node.type === 'WhileStatement') return isFalse(node.test);
  if (node.type !== 'ExpressionStatement') return false;
  const { expression } = node;
  return expression.type === 'LogicalExpression' && expression.operator === '&&' && isFalse(expression.left);
}

const isFalse = (node: Node): boolean =>
  node.type === 'Literal' && (node.value === false || node.value === 0);
