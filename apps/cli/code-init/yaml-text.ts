/** Data that JSON can hold. */
export type PlainData =
  | string
  | number
  | boolean
  | readonly PlainData[]
  | { readonly [field: string]: PlainData };

/** Texts that are themselves without quotes. */
const PLAIN = /^[A-Za-z_][\w./@-]*(?: [\w./@-]+)*$/;
const OTHER_THAN_TEXT = /^(?:true|false|null|yes|no|on|off|y|n)$/i;

/**
 * Data as YAML 1.2, one item a line.
 *
 * - `comments` that stand above a field, by its path, such as `code.protect`; with line breaks they are several lines.
 */
export function yamlText(data: PlainData, comments: Readonly<Record<string, string>> = {}): string {
  return `${linesOf(data, '', comments).join('\n')}\n`;
}

function linesOf(data: PlainData, path: string, comments: Readonly<Record<string, string>>): string[] {
  if (isList(data))
    return data.flatMap((item) => {
      const [first = '', ...others] = linesOf(item, path, {});
      return [`- ${first}`, ...others.map((line) => `  ${line}`)];
    });
  if (typeof data !== 'object') return [scalar(data)];
  return Object.entries(data).flatMap(([field, value]) => {
    const at = path === '' ? field : `${path}.${field}`;
    const comment = comments[at]?.split('\n').map((line) => `# ${line}`) ?? [];
    return [...comment, ...fieldLines(field, value, { at, comments })];
  });
}

interface At {
  readonly at: string;
  readonly comments: Readonly<Record<string, string>>;
}

function fieldLines(field: string, value: PlainData, { at, comments }: At): string[] {
  if (typeof value !== 'object') return [`${scalar(field)}: ${scalar(value)}`];
  if (Object.keys(value).length === 0) return [`${scalar(field)}: ${isList(value) ? '[]' : '{}'}`];
  return [`${scalar(field)}:`, ...linesOf(value, at, comments).map((line) => `  ${line}`)];
}

const isList = (data: PlainData): data is readonly PlainData[] => Array.isArray(data);

const scalar = (value: string | number | boolean): string =>
  typeof value === 'string' && PLAIN.test(value) && !OTHER_THAN_TEXT.test(value)
    ? value
    : JSON.stringify(value);
