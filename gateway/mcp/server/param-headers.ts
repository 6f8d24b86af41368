import { isObject } from '../../http/json-text.ts';
import { MCP_CODES, McpError } from './mcp-errors.ts';

/**
 * An argument that clients of 2026-07-28 repeat in a header, so that proxies can route by it.
 *
 * - `path` of the argument, from the root of the arguments.
 * - `name` of the header, with its prefix `Mcp-Param-`.
 */
export interface ParamHeader {
  readonly path: readonly string[];
  readonly name: string;
  readonly type: 'string' | 'integer' | 'boolean';
}

const KEYWORD = 'x-mcp-header';
const PREFIX = 'Mcp-Param-';
const TYPES: ReadonlySet<unknown> = new Set(['string', 'integer', 'boolean']);
/** A token of RFC 9110, section 5.6.2. */
const TOKEN = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/;

/** The arguments that an input schema marks by `x-mcp-header`, at any depth of its properties. */
export function paramHeadersOf(inputSchema: unknown): readonly ParamHeader[] {
  const found: ParamHeader[] = [];
  const visit = (schema: unknown, path: readonly string[]): void => {
    if (!isObject(schema)) return;
    const { [KEYWORD]: name, type, properties } = schema;
    if (typeof name === 'string' && TOKEN.test(name) && TYPES.has(type) && path.length > 0)
      found.push({ path, name: `${PREFIX}${name}`, type: type as ParamHeader['type'] });
    if (!isObject(properties)) return;
    for (const [field, within] of Object.entries(properties)) visit(within, [...path, field]);
  };
  visit(inputSchema, []);
  return found;
}

/**
 * Throws HeaderMismatch (-32020) if a header is missing, or differs from its argument. Headers of absent arguments are
 * ignored. `mayLack`: headers may be missing, because the caller has not seen the schema.
 */
export function requireParamHeaders(
  declared: readonly ParamHeader[],
  args: unknown,
  { headers, mayLack }: { readonly headers: Headers; readonly mayLack: boolean },
): void {
  for (const one of declared) {
    const value = valueAt(args, one.path);
    const said = headers.get(one.name);
    if (!isPlain(value) || (said === null && mayLack)) continue;
    if (said === null) throw mismatch(one, 'is missing');
    const decoded = decodedFrom(said);
    if (decoded === undefined) throw mismatch(one, 'is no Base64 of UTF-8');
    if (!isSame(decoded, value, one.type)) throw mismatch(one, 'says something else');
  }
}

const mismatch = ({ name, path }: ParamHeader, what: string): McpError =>
  new McpError(
    MCP_CODES.headerMismatch,
    `Header mismatch: ${name} ${what}, as against the argument "${path.join('.')}"`,
    { mismatch: { header: name, argument: path.join('.') } },
  );

const valueAt = (args: unknown, path: readonly string[]): unknown =>
  path.reduce<unknown>(
    (at, field) => (isObject(at) && Object.hasOwn(at, field) ? at[field] : undefined),
    args,
  );

const isPlain = (value: unknown): value is string | number | boolean =>
  typeof value === 'string' || typeof value === 'boolean' || Number.isSafeInteger(value);

const DECIMAL = /^-?\d+(\.\d+)?$/;

/** Whether a header has the value of its argument. `42.0` is the integer 42. */
const isSame = (said: string, value: string | number | boolean, type: ParamHeader['type']): boolean =>
  type === 'integer' && typeof value === 'number' && DECIMAL.test(said)
    ? Number(said) === value
    : said === String(value);

const [OPENING, CLOSING] = ['=?base64?', '?='];
const BASE64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/;
const UTF8 = new TextDecoder('utf-8', { fatal: true });

/**
 * Decodes a header's value: Base64 of UTF-8 between `=?base64?` and `?=`, or plain text. Undefined if the Base64 is invalid.
 */
function decodedFrom(said: string): string | undefined {
  if (!said.startsWith(OPENING) || !said.endsWith(CLOSING)) return said;
  const encoded = said.slice(OPENING.length, -CLOSING.length);
  if (!BASE64.test(encoded)) return undefined;
  try {
    return UTF8.decode(Buffer.from(encoded, 'base64'));
  } catch {
    return undefined;
  }
}
