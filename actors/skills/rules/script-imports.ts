import type { Imported } from './imported.ts';
import { SourceScanner, type SourceToken } from './source-scanner.ts';

/**
 * What JavaScript or TypeScript imports by a fixed name: `import`, `export … from`, `require('…')` and `import('…')`. Comments,
 * strings, templates and regular expressions are told apart from code as far as that goes without parsing it.
 */
export function scriptImports(source: string): readonly Imported[] {
  const found: Imported[] = [];
  let before: readonly (SourceToken | undefined)[] = [];
  let called: Imported | undefined;
  for (const token of scriptTokens(source)) {
    if (called !== undefined && isSign(token, '),')) found.push(called);
    called = undefined;
    const imported = { name: token.text, line: token.line };
    const how = token.kind === 'string' ? importedBy(before) : undefined;
    if (how === 'statement') found.push(imported);
    if (how === 'call') called = imported;
    before = [token, before[0], before[1]];
  }
  return found;
}

function importedBy([last, second, third]: readonly (SourceToken | undefined)[]):
  | 'statement'
  | 'call'
  | undefined {
  if (isWord(last, ['import']) && !isSign(second, '.')) return 'statement';
  if (isWord(last, ['from']) && (second?.kind === 'word' || isSign(second, '}*'))) return 'statement';
  if (isSign(last, '(') && isWord(second, ['import', 'require']) && !isSign(third, '.')) return 'call';
  return undefined;
}

const isSign = (token: SourceToken | undefined, signs: string): boolean =>
  token?.kind === 'sign' && signs.includes(token.text);
const isWord = (token: SourceToken | undefined, words: readonly string[]): boolean =>
  token?.kind === 'word' && words.includes(token.text);

/** Behind what a slash begins a regular expression, and divides nothing. */
const BEFORE_EXPRESSION = '(,=:[!&|?{;*%~^';
const WORDS_BEFORE_EXPRESSION = [
  'return',
  'typeof',
  'case',
  'in',
  'of',
  'do',
  'else',
  'void',
  'yield',
  'await',
];

function* scriptTokens(source: string): Generator<SourceToken> {
  const scanner = new SourceScanner(source);
  /** Of each template that is open, how many braces are within the expression in it. */
  const braces: number[] = [];
  let last: SourceToken | undefined;
  while (!scanner.isAtEnd) {
    const token = nextToken(scanner, braces, last);
    if (token === undefined) continue;
    yield token;
    last = token;
  }
}

/** What is next; undefined where that is nothing of the code. */
function nextToken(
  scanner: SourceScanner,
  braces: number[],
  last: SourceToken | undefined,
): SourceToken | undefined {
  const { char } = scanner;
  if (scanner.isAtWord) return scanner.word();
  if (char <= ' ') return void scanner.skip();
  if (char === '"' || char === "'") return scanner.quoted();
  if (char === '/') return afterSlash(scanner, last);
  if (char === '`' || (char === '}' && braces.at(-1) === 0)) return template(scanner, braces);
  if (char === '{' || char === '}') count(braces, char === '{' ? 1 : -1);
  return scanner.sign();
}

function count(braces: number[], by: number): void {
  const within = braces.pop();
  if (within !== undefined) braces.push(within + by);
}

function afterSlash(scanner: SourceScanner, last: SourceToken | undefined): SourceToken | undefined {
  if (scanner.startsWith('//')) return void scanner.skipLine();
  if (scanner.startsWith('/*')) {
    scanner.skip(2);
    return void scanner.skipPast('*/');
  }
  const isExpression =
    last === undefined || isSign(last, BEFORE_EXPRESSION) || isWord(last, WORDS_BEFORE_EXPRESSION);
  if (!isExpression) return scanner.sign();
  const { line } = scanner;
  skipRegularExpression(scanner);
  return { kind: 'string', text: '', line };
}

function skipRegularExpression(scanner: SourceScanner): void {
  const { source } = scanner;
  let at = scanner.at + 1;
  let isInClass = false;
  while (at < source.length && source[at] !== '\n' && (isInClass || source[at] !== '/')) {
    if (source[at] === '[') isInClass = true;
    if (source[at] === ']') isInClass = false;
    at += source[at] === '\\' ? 2 : 1;
  }
  scanner.moveTo(source[at] === '/' ? at + 1 : at);
}

/** A template up to its end, or to the next expression in it. One without expressions is a string. */
function template(scanner: SourceScanner, braces: number[]): SourceToken {
  const { source, line } = scanner;
  const begins = scanner.char === '`';
  const from = scanner.at + 1;
  let at = from;
  while (at < source.length && source[at] !== '`' && !source.startsWith('${', at))
    at += source[at] === '\\' ? 2 : 1;
  const isOver = source[at] !== '$';
  scanner.moveTo(at + (isOver ? 1 : 2));
  if (begins && isOver) return { kind: 'string', text: source.slice(from, at), line };
  if (begins) braces.push(0);
  else if (isOver) braces.pop();
  return { kind: 'sign', text: '`', line };
}
