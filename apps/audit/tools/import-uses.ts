import type { SourceText } from '@orrery/ralph-loop/findings/source-text';
import { parseSync } from 'oxc-parser';

/** When a script uses what it imports: while it loads, in functions that run later, or as types alone, which are gone by then. */
export type Use = 'loading' | 'later' | 'never';

/** When a script uses what it imports from the specifiers that are meant. */
export function useOf({ file, text }: SourceText, isMeant: (specifier: string) => boolean): Use {
  const { module, program } = parseSync(file, text);
  const names = new Set<string>();
  for (const { moduleRequest, entries } of module.staticImports)
    if (isMeant(moduleRequest.value))
      for (const { localName, isType } of entries) if (!isType) names.add(localName.value);
  const isHandedOn = module.staticExports.some(({ entries }) =>
    entries.some(({ moduleRequest, isType }) => !isType && isMeant(moduleRequest?.value ?? '')),
  );
  let use: Use = isHandedOn ? 'later' : 'never';
  const visit = (node: unknown, isLater: boolean): void => {
    if (Array.isArray(node)) for (const one of node) visit(one, isLater);
    if (!isNode(node) || use === 'loading') return;
    if (node.type.startsWith('TS') && !WITH_VALUES.test(node.type)) return;
    if (/^(?:JSX)?Identifier$/.test(node.type) && names.has(node['name'] as string))
      use = isLater ? 'later' : 'loading';
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

/** Syntax of TypeScript that is there when the program runs. */
const WITH_VALUES =
  /^TS(?:As|Satisfies|NonNull|Instantiation)|^TS(?:Enum|Export|Parameter|ModuleBlock|ModuleDecl)/;

/** Functions, what fields of instances begin with, and what is handed on under a name. */
const runsLater = ({ type, static: isStatic }: Node, part: string): boolean =>
  /Function|^ExportSpecifier$/.test(type) ||
  (type === 'PropertyDefinition' && part === 'value' && isStatic !== true);
