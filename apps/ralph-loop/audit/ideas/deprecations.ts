import type { EcmaScriptModule, Program } from 'oxc-parser';
import type { SourceText } from '../../findings/source-text.ts';
import type { Node } from '../syntax/node.ts';
import { parseScript } from '../syntax/parse-script.ts';

/** What a file exports that it marks @deprecated: by name, what the mark says. */
export type Deprecations = ReadonlyMap<string, string>;

/** At the beginning of a line: elsewhere somebody writes about it. */
const MARK = /(?:^\*|\n[ \t]*\*?)[ \t]*@deprecated\b[ \t]*([^\n*@]*)/;

/** The deprecated exports of a file: those whose every declaration has the mark in the comment right above it. */
export function deprecationsIn(source: SourceText): Deprecations {
  const found = new Map<string, string>();
  if (!source.text.includes('@deprecated')) return found;
  const script = parseScript(source);
  if ('unparsable' in script) return found;
  const marks = marksAbove(source, script.comments());
  const local = new Map<string, string>();
  for (const [name, declarations] of Map.groupBy(declarationsIn(script.program()), (one) => one.name)) {
    const overloads = declarations.filter(({ isOverload }) => isOverload);
    const said = (overloads.length > 0 ? overloads : declarations).map(({ offset }) => marks(offset));
    const [mark] = said;
    if (mark !== undefined && !said.includes(undefined)) local.set(name, mark);
  }
  for (const { exported, name } of exportsOf(script.module)) {
    const mark = local.get(name);
    if (mark !== undefined) found.set(exported, mark);
  }
  return found;
}

type Comments = Extract<ReturnType<typeof parseScript>, { comments: unknown }>['comments'];

/** What the documentation comment says that ends right before an offset. */
function marksAbove(
  { text }: SourceText,
  comments: ReturnType<Comments>,
): (offset: number) => string | undefined {
  const documentation = comments.filter(({ type, value }) => type === 'Block' && value.startsWith('*'));
  const byEnd = new Map(documentation.map(({ end, value }) => [end, value]));
  return (offset) => {
    const end = text.slice(0, offset).trimEnd().length;
    const value = byEnd.get(end);
    return value === undefined ? undefined : MARK.exec(value)?.[1]?.trim();
  };
}

interface Declaration {
  readonly name: string;
  readonly offset: number;
  /** It says how a function may be called; the one that follows, which does it, says nothing to callers. */
  readonly isOverload: boolean;
}

function declarationsIn({ body }: Program): Declaration[] {
  return body.flatMap((statement: Node) => {
    const isExport =
      statement.type === 'ExportNamedDeclaration' || statement.type === 'ExportDefaultDeclaration';
    const declared: Node | null = isExport ? statement.declaration : statement;
    return declared === null
      ? []
      : namesOf(declared).map((name) => ({
          name,
          offset: statement.start,
          isOverload: declared.type === 'TSDeclareFunction',
        }));
  });
}

function namesOf(declared: Node): string[] {
  if (declared.type === 'VariableDeclaration') {
    return declared.declarations.flatMap(({ id }) => (id.type === 'Identifier' ? [id.name] : []));
  }
  const id = 'id' in declared ? declared.id : null;
  if (id !== null && id?.type === 'Identifier') return [id.name];
  return declared.type === 'FunctionDeclaration' || declared.type === 'ClassDeclaration' ? ['default'] : [];
}

/** The names under which a file's own declarations are exported. */
function exportsOf({ staticExports }: EcmaScriptModule): { exported: string; name: string }[] {
  return staticExports.flatMap(({ entries }) =>
    entries
      .filter(({ moduleRequest }) => moduleRequest === null)
      .map(({ exportName, localName }) => {
        const exported = `${exportName.kind}` === 'Default' ? 'default' : (exportName.name ?? '');
        return { exported, name: localName.name ?? exported };
      }),
  );
}
