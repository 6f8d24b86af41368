import type { Document, LineCounter } from 'yaml';
import type { JsonFault } from './json-fault.ts';
import { neededPackages } from './needed-packages.ts';

/** The longest YAML that is read, characters: what it takes grows faster than its length. */
const MAX_YAML = 1024 * 1024;

/**
 * Parses YAML 1.2 of the core schema, which is JSON with fewer signs; resolves to the value, or to what is wrong. Keys that
 * come twice, tags and aliases are refused. Rejects with MissionError if the package `yaml` is not installed.
 */
export async function parseYaml(
  text: string,
  source: string,
): Promise<{ value: unknown } | { fault: JsonFault }> {
  const yaml = await neededPackages(() => import('yaml'), { source, what: 'YAML', names: ['yaml'] });
  const lines = new yaml.LineCounter();
  const faultAt = (offset: number, reason: string) => ({ fault: { ...placeOf(lines, offset), reason } });
  if (text.length > MAX_YAML)
    return faultAt(0, `${text.length} characters, expected ${MAX_YAML} at most; JSON may be longer`);
  try {
    const document = yaml.parseDocument(text, {
      version: '1.2',
      schema: 'core',
      stringKeys: true,
      prettyErrors: false,
      logLevel: 'error',
      lineCounter: lines,
    });
    const [first] = [...document.errors, ...document.warnings];
    if (first !== undefined) return faultAt(first.pos[0], first.message);
    const unwanted = unwantedIn(document, yaml);
    if (unwanted !== undefined) return faultAt(unwanted.offset, `expected no ${unwanted.what}`);
    return { value: document.toJS({ maxAliasCount: 0 }) as unknown };
  } catch (error) {
    if (error instanceof RangeError) return faultAt(0, 'nested too deeply');
    throw error;
  }
}

/** The first alias, anchor or tag. */
function unwantedIn(
  document: Document,
  { isAlias, isNode, visit }: typeof import('yaml'),
): { readonly what: string; readonly offset: number } | undefined {
  let found: { what: string; offset: number } | undefined;
  visit(document, (_, node) => {
    if (!isNode(node)) return undefined;
    const offset = node.range?.[0] ?? 0;
    if (isAlias(node)) found = { what: `alias (*${node.source})`, offset };
    else if (node.anchor !== undefined) found = { what: `anchor (&${node.anchor})`, offset };
    else if (node.tag !== undefined && node.tag !== null) found = { what: `tag (${node.tag})`, offset };
    return found === undefined ? undefined : visit.BREAK;
  });
  return found;
}

function placeOf(lines: LineCounter, offset: number): { line: number; column: number } {
  if (lines.lineStarts.length === 0) return { line: 1, column: 1 };
  const { line, col } = lines.linePos(offset);
  return { line: Math.max(line, 1), column: Math.max(col, 1) };
}
