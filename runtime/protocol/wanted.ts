import type { z } from 'zod';

type Issue = z.core.$ZodIssue;

/** What a schema expects in place of a value that it has refused, such as `a text` or `a number above 0`. */
export function wantedBy(issue: Issue): string {
  const own = ownMessage(issue);
  if (own !== undefined) return own;
  switch (issue.code) {
    case 'invalid_type':
      return nameOf(issue.expected);
    case 'invalid_value':
      return oneOf(issue.values);
    case 'too_small':
      return bounded(issue, issue.minimum, issue.inclusive === false ? 'above' : 'of at least');
    case 'too_big':
      return bounded(issue, issue.maximum, issue.inclusive === false ? 'below' : 'of at most');
    case 'invalid_format':
      return formatted(issue);
    case 'not_multiple_of':
      return `a multiple of ${issue.divisor}`;
    case 'unrecognized_keys':
      return 'no field of this name';
    case 'invalid_key':
      return `other keys: ${issue.issues.map((one) => wantedBy(one as Issue)).join(', ')}`;
    case 'invalid_element':
      return `other elements: ${issue.issues.map((one) => wantedBy(one as Issue)).join(', ')}`;
    case 'invalid_union':
      return oneOfKinds(issue);
    default:
      return 'something else';
  }
}

/** The message of a schema's author in place of zod's: what is expected, or a whole sentence. Undefined if it is zod's. */
export function ownMessage({ message }: Issue): string | undefined {
  return ZODS.test(message) ? undefined : message.replace(/^expected /, '');
}

/** How all of zod's own messages begin. */
const ZODS = /^(Invalid\b|Too (small|big)\b|Unrecognized key)/;

const NAMES: Readonly<Record<string, string>> = {
  string: 'a text',
  int: 'a whole number',
  boolean: 'true or false',
  array: 'a list',
  tuple: 'a list',
  record: 'an object',
  date: 'a Date',
  map: 'a Map',
  set: 'a Set',
  file: 'a File',
  nan: 'NaN',
  URL: 'a URL',
  null: 'null',
  undefined: 'nothing',
  void: 'nothing',
  never: 'nothing',
  nonoptional: 'a value',
};

const nameOf = (type: string): string => NAMES[type] ?? withArticle(type);

const withArticle = (noun: string): string => `${/^[aeiou]/i.test(noun) ? 'an' : 'a'} ${noun}`;

function oneOf(values: readonly unknown[]): string {
  const said = values.map((value) => (typeof value === 'string' ? JSON.stringify(value) : String(value)));
  const more = said.length - MAX_VALUES;
  return more > 1 ? `${said.slice(0, MAX_VALUES).join(', ')} or one of ${more} others` : listed(said);
}

const MAX_VALUES = 8;

/** `a`, `a or b`, `a, b or c`. */
function listed(names: readonly string[]): string {
  const [first = 'something else'] = names;
  return names.length < 2 ? first : `${names.slice(0, -1).join(', ')} or ${names.at(-1)}`;
}

const UNITS: Readonly<Record<string, string>> = {
  string: 'character',
  array: 'item',
  set: 'item',
  map: 'entry',
  object: 'field',
  file: 'byte',
};

function bounded(
  issue: Issue & { code: 'too_small' | 'too_big' },
  bound: number | bigint,
  manner: string,
): string {
  const { origin } = issue;
  const unit = UNITS[origin];
  const kind = nameOf(origin);
  if (unit === undefined) return `${kind} ${manner} ${origin === 'date' ? dateText(bound) : bound}`;
  if (issue.code === 'too_small' && Number(bound) === 1 && issue.exact !== true)
    return `${kind} that is not empty`;
  const count = Number(bound) === 1 ? `1 ${unit}` : `${bound} ${plural(unit)}`;
  return `${kind} ${issue.exact === true ? 'of exactly' : manner} ${count}`;
}

const dateText = (ms: number | bigint): string => new Date(Number(ms)).toISOString();

const plural = (unit: string): string => (unit === 'entry' ? 'entries' : `${unit}s`);

const FORMATS: Readonly<Record<string, string>> = {
  url: 'a URL',
  email: 'an email address',
  uuid: 'a UUID',
  datetime: 'a date and time as ISO 8601 has them',
  date: 'a date as ISO 8601 has it',
  time: 'a time as ISO 8601 has it',
  duration: 'a duration as ISO 8601 has it',
  ipv4: 'an IPv4 address',
  ipv6: 'an IPv6 address',
  base64: 'a text in base64',
  base64url: 'a text in base64url',
  json_string: 'a text of JSON',
};

function formatted(issue: Issue & { code: 'invalid_format' }): string {
  const { format, pattern, prefix, suffix, includes } = issue as typeof issue &
    Readonly<Record<'prefix' | 'suffix' | 'includes', string | undefined>>;
  if (format === 'starts_with') return `a text that begins with ${JSON.stringify(prefix)}`;
  if (format === 'ends_with') return `a text that ends with ${JSON.stringify(suffix)}`;
  if (format === 'includes') return `a text with ${JSON.stringify(includes)} in it`;
  if (format === 'regex') return `a text that matches ${pattern}`;
  return FORMATS[format] ?? `a valid ${format}`;
}

/** What a union expects, if the value is of none of its kinds: all of them. */
function oneOfKinds(issue: Issue & { code: 'invalid_union' }): string {
  const { options, errors = [] } = issue as typeof issue & { readonly options?: readonly unknown[] };
  if (options !== undefined && options.length > 0) return oneOf(options);
  const kinds = errors.map(([first]) => (first?.path.length === 0 ? wantedBy(first) : 'an object'));
  return listed([...new Set(kinds)]);
}
