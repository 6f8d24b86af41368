import type { Comment } from 'oxc-parser';
import { SourceText } from '../../findings/source-text.ts';
import type { Node } from '../syntax/node.ts';
import { parseScript } from '../syntax/parse-script.ts';

/** Fewer lines are as likely an example. */
const MIN_LINES = 3;
const MAX_LINES = 500;
/** Lines of code end like this; most lines of prose do not. */
const CODE_END = /[;{}),[\]]$/;
const MIN_CODE_ENDS = 0.6;
/** Who writes code into a comment to explain something says so; tools have their own words. */
const EXPLAINS =
  /\b(?:e\.g|example|usage|for instance|such as|expected|output|becomes|equivalent|same as|like this|pseudo|eslint|prettier|biome|istanbul|@ts-|#region)\b|=>\s*$|^\s*\$ /im;

interface Block {
  readonly text: string;
  readonly offset: number;
}

/** Where code begins that comment marks switch off: at least three lines that are statements, and look like it. */
export function commentedCodeIn(source: SourceText, comments: readonly Comment[]): number[] {
  return blocksOf(source, comments)
    .filter(({ text }) => isCode(text, source.file))
    .map(({ offset }) => offset);
}

/** Block comments, and line comments that stand directly below each other. */
function blocksOf(source: SourceText, comments: readonly Comment[]): Block[] {
  const blocks: Block[] = [];
  let run: Comment[] = [];
  const close = (): void => {
    const [first] = run;
    if (first) blocks.push({ text: run.map(({ value }) => value).join('\n'), offset: first.start });
    run = [];
  };
  for (const comment of comments) {
    const previous = run.at(-1);
    const isBelow =
      previous !== undefined && /^\r?\n[ \t]*$/.test(source.text.slice(previous.end, comment.start));
    if (comment.type !== 'Line' || !isBelow) close();
    if (comment.type === 'Line') run.push(comment);
    // With its second star documentation is no code to a parser.
    else blocks.push({ text: comment.value, offset: comment.start });
  }
  close();
  return blocks;
}

function isCode(text: string, file: string): boolean {
  const lines = text
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '');
  if (lines.length < MIN_LINES || lines.length > MAX_LINES || EXPLAINS.test(text)) return false;
  if (lines.filter((line) => CODE_END.test(line)).length / lines.length < MIN_CODE_ENDS) return false;
  // What is switched off may have stood in a function.
  return [text, `async () => {\n${text}\n}`].some((code) => isProgram(code, file));
}

function isProgram(text: string, file: string): boolean {
  const script = parseScript(new SourceText(file, text));
  if ('unparsable' in script) return false;
  const statements = insideOf(script.program().body);
  return statements.every(isMeant) && statements.some(({ type }) => type !== 'EmptyStatement');
}

/** The statements of the function that was put around them, if one was. */
function insideOf(body: readonly Node[]): readonly Node[] {
  const [first] = body;
  if (body.length !== 1 || first?.type !== 'ExpressionStatement') return body;
  const { expression } = first;
  if (expression.type !== 'ArrowFunctionExpression' || expression.body.type !== 'BlockStatement') return body;
  return expression.body.body;
}

const DECLARES =
  /^(?:Variable|Function|Class|Import|ExportNamed|ExportDefault|ExportAll|TSInterface|TSTypeAlias|TSEnum)\w*Declaration$/;
const ACTS =
  /^(?:If|For|ForOf|ForIn|While|DoWhile|Return|Throw|Try|Switch|Block|Break|Continue|Empty)Statement$/;
const DOES = new Set([
  'CallExpression',
  'AssignmentExpression',
  'AwaitExpression',
  'UpdateExpression',
  'NewExpression',
]);

/** Words, labels and bare names are statements to a parser, too. */
function isMeant(statement: Node): boolean {
  if (statement.type === 'ExpressionStatement') return DOES.has(statement.expression.type);
  return DECLARES.test(statement.type) || ACTS.test(statement.type);
}
