import type { EcmaScriptModule, Program } from 'oxc-parser';
import { childrenOf, type Node } from '../syntax/node.ts';
import { isTypeScript, parseScript, type Script } from '../syntax/parse-script.ts';
import type { SourceText } from '../../findings/source-text.ts';

/**
 * - `static`  loaded before the file runs: import, export from, require.
 * - `lazy`    `import()`: loaded when the call runs.
 * - `type`    gone when the types are stripped.
 */
export type ImportKind = 'static' | 'lazy' | 'type';

export interface Import {
  readonly specifier: string;
  /** Where the specifier stands. */
  readonly offset: number;
  readonly kind: ImportKind;
}

/** The imports of one script whose specifiers are written out, or why it cannot be read. */
export function readImports(
  source: SourceText,
): { readonly imports: Import[] } | { readonly unparsable: string } {
  const script = parseScript(source);
  if ('unparsable' in script) return script;
  const imports = [...staticImports(script.module), ...lazyImports(script.module, source.text)];
  return { imports: [...imports, ...requires(script, source)].sort((a, b) => a.offset - b.offset) };
}

function staticImports({ staticImports, staticExports }: EcmaScriptModule): Import[] {
  const imports = staticImports.map(({ moduleRequest, entries }) => ({
    specifier: moduleRequest.value,
    offset: moduleRequest.start,
    kind: kindOf(entries),
  }));
  const exports = staticExports.flatMap(({ entries }) => {
    const [first] = entries;
    if (!first?.moduleRequest) return [];
    const { value, start } = first.moduleRequest;
    return [{ specifier: value, offset: start, kind: kindOf(entries) }];
  });
  return [...imports, ...exports];
}

/** `import {} from` and `import 'x'` load the file; only when every name is a type does the import go away. */
const kindOf = (entries: readonly { isType: boolean }[]): ImportKind =>
  entries.length > 0 && entries.every(({ isType }) => isType) ? 'type' : 'static';

function lazyImports({ dynamicImports }: EcmaScriptModule, text: string): Import[] {
  return dynamicImports.flatMap(({ moduleRequest: { start, end } }) => {
    const written = /^(['"`])([^'"`$\\]+)\1$/.exec(text.slice(start, end));
    return written === null
      ? []
      : [{ specifier: written[2] as string, offset: start, kind: 'lazy' as const }];
  });
}

const REQUIRE = /\brequire\s*\(/;

/** The parser lists ES imports by itself; for `require` the tree has to be walked. */
function requires(script: Extract<Script, { program: unknown }>, { text, file }: SourceText): Import[] {
  if (!REQUIRE.test(text)) return [];
  const found: Import[] = [];
  collectRequires(script.program(), isTypeScript(file), found);
  return found;
}

function collectRequires(node: Node | Program, inTypeScript: boolean, found: Import[]): void {
  if (node.type === 'CallExpression' && node.callee.type === 'Identifier' && node.callee.name === 'require') {
    const [name] = node.arguments;
    if (name?.type === 'Literal' && typeof name.value === 'string') {
      found.push({ specifier: name.value, offset: name.start, kind: 'static' });
    }
  }
  if (inTypeScript && node.type === 'TSImportEqualsDeclaration') {
    const { moduleReference, importKind } = node;
    if (moduleReference.type === 'TSExternalModuleReference') {
      const { value, start } = moduleReference.expression;
      found.push({ specifier: value, offset: start, kind: importKind === 'type' ? 'type' : 'static' });
    }
  }
  for (const child of childrenOf(node)) collectRequires(child, inTypeScript, found);
}
