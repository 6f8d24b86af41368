import { invalidOptions } from './errors.ts';

/** A part of a template: literal text, or a variable. One with `isPath` may hold slashes. */
type Part = { readonly text: string } | { readonly variable: string; readonly isPath: boolean };

/** The longest URI that is matched: it comes from outside. */
const MAX_URI = 8_192;
const EXPRESSION = /^(\+?)([A-Za-z0-9_]+(?:\.[A-Za-z0-9_]+)*)$/;
/** Characters that a simple variable never holds unencoded, because they would mean something else there. */
const DELIMITERS = /[/?#]/;

/**
 * A URI with variables (RFC 6570): `{name}` anywhere, as in level 1, and `{+name}`, which may hold slashes, as the last one.
 * Two variables have text between them. Variables are never empty, and are given decoded. What is a step of a path once it
 * is decoded, such as `..` or `a%2Fb`, is never a simple variable.
 */
export class UriTemplate {
  readonly source: string;
  readonly #parts: readonly Part[];

  /** Throws INVALID_OPTIONS naming `field` and the invalid expression. */
  constructor(source: string, field = 'uriTemplate') {
    this.source = source;
    this.#parts = partsOf(source, field);
  }

  /** The names of the variables, in order. */
  get variables(): readonly string[] {
    return this.#parts.flatMap((part) => ('variable' in part ? [part.variable] : []));
  }

  /** The values of the variables in this URI; undefined if it does not match the template. */
  match(uri: string): Readonly<Record<string, string>> | undefined {
    if (uri.length > MAX_URI) return undefined;
    const parts = this.#parts;
    const found: Record<string, string> = {};
    let at = 0;
    for (const [index, part] of parts.entries()) {
      if ('text' in part) {
        if (!uri.startsWith(part.text, at)) return undefined;
        at += part.text.length;
        continue;
      }
      const end = endOf(uri, at, { next: parts[index + 1], isNextLast: index + 2 === parts.length });
      const value = end > at ? decoded(uri.slice(at, end), part.isPath) : undefined;
      if (value === undefined) return undefined;
      found[part.variable] = value;
      at = end;
    }
    return at === uri.length ? found : undefined;
  }
}

/**
 * Where a variable that begins at `at` ends: at the first of the text that follows it, and before the last where nothing else
 * follows that. No later end could make the rest fit, because a variable in the middle holds no delimiter.
 */
function endOf(
  uri: string,
  at: number,
  { next, isNextLast }: { readonly next: Part | undefined; readonly isNextLast: boolean },
): number {
  if (next === undefined) return uri.length;
  const { text } = next as { readonly text: string };
  if (isNextLast) return uri.endsWith(text) ? uri.length - text.length : -1;
  return uri.indexOf(text, at + 1);
}

/** Whether a value would be another step of a path, or more than one. */
const isStep = (value: string): boolean =>
  value === '.' || value === '..' || /[/\\]/.test(value) || value.includes('\0');

function decoded(text: string, isPath: boolean): string | undefined {
  if (!isPath && DELIMITERS.test(text)) return undefined;
  try {
    const value = decodeURIComponent(text);
    return !isPath && isStep(value) ? undefined : value;
  } catch {
    return undefined;
  }
}

function partsOf(source: string, field: string): readonly Part[] {
  if (!/^[A-Za-z][A-Za-z0-9+.-]*:/.test(source))
    throw invalidOptions(field, source, 'a URI with a scheme, such as "log://{day}"');
  const parts: Part[] = [];
  let at = 0;
  while (at < source.length) {
    const open = source.indexOf('{', at);
    const text = source.slice(at, open < 0 ? source.length : open);
    if (text.includes('}')) throw invalidOptions(field, source, 'a "{" before each "}"');
    if (text !== '') parts.push({ text });
    if (open < 0) break;
    const close = source.indexOf('}', open);
    if (close < 0) throw invalidOptions(field, source, 'a "}" after each "{"');
    parts.push(variableIn(source.slice(open + 1, close), field));
    at = close + 1;
  }
  requireClear(parts, source, field);
  return parts;
}

function variableIn(expression: string, field: string): Part {
  const found = EXPRESSION.exec(expression);
  if (found === null)
    throw invalidOptions(field, `{${expression}}`, 'expressions such as {name}, or {+name} as the last one');
  return { variable: found[2] as string, isPath: found[1] === '+' };
}

/** Throws INVALID_OPTIONS for a template by which a URI could be read in two ways. */
function requireClear(parts: readonly Part[], source: string, field: string): void {
  const names = new Set<string>();
  const variables = parts.filter((part) => 'variable' in part);
  for (const [index, part] of parts.entries()) {
    if (!('variable' in part)) continue;
    if (names.has(part.variable)) throw invalidOptions(field, source, `the variable "${part.variable}" once`);
    names.add(part.variable);
    const next = parts[index + 1];
    if (next !== undefined && 'variable' in next)
      throw invalidOptions(field, source, `text between {${part.variable}} and {${next.variable}}`);
    if (part.isPath && part !== variables.at(-1))
      throw invalidOptions(field, source, `{+${part.variable}} as the last variable`);
  }
  if (names.size === 0) throw invalidOptions(field, source, 'at least one variable; else it is a resource');
}
