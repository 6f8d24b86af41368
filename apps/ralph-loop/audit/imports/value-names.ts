import type { Program } from 'oxc-parser';
import { childrenOf, type Node } from '../syntax/node.ts';

/**
 * The names that a TypeScript file uses as values.
 *
 * The compiler drops an import none of whose names is used so, even without the word `type`: it is no import when the
 * program runs, and no part of a circle.
 */
export function valueNames(program: Program): ReadonlySet<string> {
  const names = new Set<string>();
  collect(program, names);
  return names;
}

/** TypeScript's nodes that hold code and not only types. */
const HOLD_CODE = new Set<string>([
  'TSAsExpression',
  'TSSatisfiesExpression',
  'TSNonNullExpression',
  'TSTypeAssertion',
  'TSInstantiationExpression',
  'TSEnumDeclaration',
  'TSEnumBody',
  'TSEnumMember',
  'TSModuleDeclaration',
  'TSModuleBlock',
  'TSExportAssignment',
  'TSImportEqualsDeclaration',
  'TSQualifiedName',
  'TSParameterProperty',
  'TSAbstractPropertyDefinition',
  'TSAbstractMethodDefinition',
]);

function collect(node: Node, names: Set<string>): void {
  if (node.type === 'ImportDeclaration') return;
  if (node.type.startsWith('TS') && !HOLD_CODE.has(node.type)) return;
  if (node.type === 'Identifier' || node.type === 'JSXIdentifier') names.add(node.name);
  const label = labelOf(node);
  for (const child of childrenOf(node)) if (child !== label) collect(child, names);
}

/** The part of a node that only looks like a name in use: `b` in `a.b` and in `{ b: a }`. */
function labelOf(node: Node): Node | undefined {
  if (node.type === 'MemberExpression' && !node.computed) return node.property;
  if (node.type === 'Property' && !node.computed && !node.shorthand) return node.key;
  if ((node.type === 'MethodDefinition' || node.type === 'PropertyDefinition') && !node.computed)
    return node.key;
  return undefined;
}

/** The local names that the import statement around `offset` brings in; undefined when none stands there. */
export function namesImportedAt(program: Program, offset: number): readonly string[] | undefined {
  for (const statement of program.body) {
    if (statement.type !== 'ImportDeclaration' || offset < statement.start || offset >= statement.end)
      continue;
    return statement.specifiers.map(({ local }) => local.name);
  }
  return undefined;
}
