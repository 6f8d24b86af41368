import type { Imported } from './imported.ts';
import { SourceScanner, type SourceToken } from './source-scanner.ts';

/** The longest name that is told. */
const MAX_NAME = 200;

/**
 * What Python imports with `import` and `from … import`. What is imported is every package on the way as well: `import os.path` is
 * told as `os` and `os.path`, as is `from os import path`.
 */
export function pythonImports(source: string): readonly Imported[] {
  const found: Imported[] = [];
  for (const [first, ...rest] of importStatements(source)) {
    if (first === undefined) continue;
    const names = first.text === 'import' ? listOf(rest).map(nameOf).flatMap(onTheWay) : fromNames(rest);
    for (const name of new Set(names)) found.push({ name, line: first.line });
  }
  return found;
}

/** `from a.b import (c as d, e)`: a, a.b, a.b.c, a.b.e. */
function fromNames(tokens: readonly SourceToken[]): readonly string[] {
  const at = tokens.findIndex(({ text }) => text === 'import');
  if (at < 0) return [];
  const module = nameOf(tokens.slice(0, at));
  if (module.length > MAX_NAME) return [];
  const names = listOf(tokens.slice(at + 1).filter(({ text }) => !BRACKETS.has(text))).map(nameOf);
  const within = module.endsWith('.') ? module : `${module}.`;
  return [...onTheWay(module), ...names.filter(isName).map((name) => `${within}${name}`)];
}

const BRACKETS: ReadonlySet<string> = new Set(['(', ')']);

const isName = (name: string): boolean => name !== '' && name !== '*' && name.length <= MAX_NAME;

function listOf(tokens: readonly SourceToken[]): readonly (readonly SourceToken[])[] {
  const lists: SourceToken[][] = [[]];
  for (const token of tokens) {
    if (token.text === ',') lists.push([]);
    else lists.at(-1)?.push(token);
  }
  return lists;
}

function nameOf(tokens: readonly SourceToken[]): string {
  const end = tokens.findIndex(({ text }) => text === 'as');
  return tokens
    .slice(0, end < 0 ? tokens.length : end)
    .map(({ text }) => text)
    .join('');
}

/** A name behind those of the packages that it is in; one that begins with a dot is told alone. */
function onTheWay(name: string): readonly string[] {
  if (name === '' || name.length > MAX_NAME) return [];
  if (name.startsWith('.')) return [name];
  const parts = name.split('.');
  return parts.map((_, at) => parts.slice(0, at + 1).join('.'));
}

/** The tokens of each statement that begins with `import` or `from`. */
function* importStatements(source: string): Generator<readonly SourceToken[]> {
  let statement: SourceToken[] = [];
  let isImport = false;
  let isBegun = false;
  let depth = 0;
  for (const token of pythonTokens(source)) {
    depth += bracketOf(token);
    if (depth <= 0 && token.kind === 'sign' && '\n;:'.includes(token.text)) {
      if (isImport) yield statement;
      [statement, isImport, isBegun, depth] = [[], false, false, 0];
      continue;
    }
    if (!isBegun) isImport = token.kind === 'word' && (token.text === 'import' || token.text === 'from');
    isBegun = true;
    if (isImport && token.text !== '\n') statement.push(token);
  }
  if (isImport) yield statement;
}

function bracketOf({ kind, text }: SourceToken): number {
  if (kind !== 'sign') return 0;
  if ('([{'.includes(text)) return 1;
  return ')]}'.includes(text) ? -1 : 0;
}

function* pythonTokens(source: string): Generator<SourceToken> {
  const scanner = new SourceScanner(source);
  while (!scanner.isAtEnd) {
    const { char } = scanner;
    if (scanner.isAtWord) yield scanner.word();
    else if (scanner.startsWith('\\\n')) scanner.skip(2);
    else if (scanner.startsWith('\\\r\n')) scanner.skip(3);
    else if (char !== '\n' && char <= ' ') scanner.skip();
    else if (char === '#') scanner.skipLine();
    else if (char === '"' || char === "'") yield* pythonString(scanner);
    else yield scanner.sign();
  }
}

function* pythonString(scanner: SourceScanner): Generator<SourceToken> {
  const { char, source, line } = scanner;
  const long = char.repeat(3);
  if (!scanner.startsWith(long)) {
    const short = scanner.quoted();
    if (short !== undefined) yield short;
    return;
  }
  let at = scanner.at + long.length;
  while (at < source.length && !source.startsWith(long, at)) at += source[at] === '\\' ? 2 : 1;
  scanner.moveTo(at + long.length);
  yield { kind: 'string', text: '', line };
}
