import type { SourceText } from '@orrery/ralph-loop/findings/source-text';
import { parseSync } from 'oxc-parser';

/** When a script uses an import: while it loads, in functions that run later, or never, because it is only types. */
export type Use = 'loading' | 'later' | 'never';

/** The exported names of functions that a script declares. In a circle of imports these exist before anything has loaded. */
export function declaredFunctions({ file, text }: SourceText): ReadonlySet<string> {
  const { module, program } = parseSync(file, text);
  const declared = new Set<string>();
  for (const statement of program.body) {
    const one = 'declaration' in statement ? statement.declaration : statement;
    if (one?.type === 'FunctionDeclaration') declared.add(one.id?.name ?? '');
  }
  const exported = module.staticExports.flatMap(({ entries }) => entries);
  return new Set(
    exported
      .filter(({ moduleRequest, localName }) => moduleRequest === null && declared.has(localName.name ?? ''))
      .map(({ exportName }) => exportName.name ?? 'default'),
  );
}

/**
 * When a script uses its imports from one file.
 *
 * - `isMeant` whether a specifier leads to that file.
 * - `isThere` whether that file has a name before it has loaded.
 */
export function useOf(
  { file, text }: SourceText,
  isMeant: (specifier: string) => boolean,
  isThere: (name: string) => boolean,
): Use {
  const { module, program } = parseSync(file, text);
  /** Imports by local name, with whether they exist before the file has loaded. */
  const names = new Map<string, boolean>();
  for (const { moduleRequest, entries } of module.staticImports)
    if (isMeant(moduleRequest.value))
      for (const { importName, localName, isType } of entries)
        if (!isType) names.set(localName.value, isThere(importName.name ?? importName.kind.toLowerCase()));
  const isHandedOn = module.staticExports.some(({ entries }) =>
    entries.some(({ moduleRequest, isType }) => !isType && isMeant(moduleRequest?.value ?? '')),
  );
  let use: Use = isHandedOn ? 'later' : 'never';
  const visit = (node: unknown, isLater: boolean): void => {
    if (Array.isArray(node)) for (const one of node) visit(one, isLater);
    if (!isNode(node) || use === 'loading') return;
    if (node.type.startsWith('TS') && !WITH_VALUES.test(node.type)) return;
    const isEarly = /^(?:JSX)?Identifier$/.test(node.type) ? names.get(node['name'] as string) : undefined;
    if (isEarly !== undefined) use = isLater || isEarly ? 'later' : 'loading';
    const { key, property, computed, ...others } = node;
    if (computed === true) visit([key, property], isLater);
    for (const [name, part] of Object.entries(others)) visit(part, isLater || runsLater(node, name));
  };
  visit(
    program.body.filter(({ type }) => type !== 'ImportDeclaration'),
    false,
  );
  return use;
}

interface Node {
  readonly type: string;
  readonly [field: string]: unknown;
}

const isNode = (value: unknown): value is Node => typeof (value as Partial<Node> | null)?.type === 'string';

/** Syntax of TypeScript that exists at run time. */
const WITH_VALUES =
  /^TS(?:As|Satisfies|NonNull|Instantiation)|^TS(?:Enum|Export|Parameter|ModuleBlock|ModuleDecl)/;

/** Whether a part of a node runs later: bodies of functions, initial values of instance fields, and re-exports. */
const runsLater = ({ type, static: isStatic }: Node, part: string): boolean =>
  /Function|^ExportSpecifier$/.test(type) ||
  (type === 'PropertyDefinition' && part === 'value' && isStatic !== true);
