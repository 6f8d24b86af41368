import { childrenOf, keyName, type Node, type NodeOf } from './node.ts';

/** What a name stands for where it is declared. */
export type Binding =
  /** `name` is '*' for the module itself: a namespace, or the default of a CommonJS module. */
  | { readonly kind: 'import'; readonly module: string; readonly name: string }
  /** `isConst`: it keeps this value. */
  | { readonly kind: 'value'; readonly value: Node; readonly isConst: boolean }
  | { readonly kind: 'member'; readonly of: Node; readonly name: string }
  | { readonly kind: 'other' };

/** The names declared at one place, and the scope around it. */
export interface Scope {
  readonly names: ReadonlyMap<string, Binding>;
  readonly outer: Scope | undefined;
}

/** What `name` is bound to; undefined means a global. */
export function lookUp(name: string, scope: Scope | undefined): Binding | undefined {
  for (let at = scope; at !== undefined; at = at.outer) {
    const binding = at.names.get(name);
    if (binding !== undefined) return binding;
  }
  return undefined;
}

/** The scope that declares `name`, as seen from `scope`; undefined for a global. */
export function declaringScope(name: string, scope: Scope | undefined): Scope | undefined {
  for (let at = scope; at !== undefined; at = at.outer) if (at.names.has(name)) return at;
  return undefined;
}

/**
 * Calls `visit` for every node below and including `node`, outer before inner, with the scope it stands in and the nodes
 * around it, the nearest last.
 */
export function walk(
  node: Node,
  visit: (node: Node, scope: Scope, ancestors: readonly Node[]) => void,
  outer?: Scope,
  ancestors: Node[] = [],
): void {
  const names = declaredBy(node);
  const scope = names === undefined ? (outer as Scope) : { names, outer };
  visit(node, scope, ancestors);
  ancestors.push(node);
  for (const child of childrenOf(node)) walk(child, visit, scope, ancestors);
  ancestors.pop();
}

type Names = Map<string, Binding>;

const OTHER: Binding = { kind: 'other' };

function declaredBy(node: Node): Names | undefined {
  const names: Names = new Map();
  switch (node.type) {
    case 'Program':
      declareStatements(node.body, names);
      declareVars(node, names);
      return names;
    case 'FunctionDeclaration':
    case 'FunctionExpression':
    case 'ArrowFunctionExpression':
      for (const parameter of node.params) declarePattern(parameter, names, () => OTHER);
      if (node.body !== null) declareVars(node.body, names);
      if (node.type === 'FunctionExpression' && node.id !== null) names.set(node.id.name, OTHER);
      return names;
    case 'BlockStatement':
    case 'StaticBlock':
    case 'TSModuleBlock':
      declareStatements(node.body, names);
      return names;
    case 'SwitchStatement':
      for (const { consequent } of node.cases) declareStatements(consequent, names);
      return names;
    case 'ForStatement':
      if (node.init !== null) declareStatement(node.init, names);
      return names;
    case 'ForInStatement':
    case 'ForOfStatement':
      declareStatement(node.left, names);
      return names;
    case 'CatchClause':
      if (node.param !== null) declarePattern(node.param, names, () => OTHER);
      return names;
    case 'ClassExpression':
      if (node.id !== null) names.set(node.id.name, OTHER);
      return names;
    default:
      return undefined;
  }
}

function declareStatements(statements: readonly Node[], names: Names): void {
  for (const statement of statements) declareStatement(statement, names);
}

function declareStatement(statement: Node, names: Names): void {
  switch (statement.type) {
    case 'ImportDeclaration':
      for (const specifier of statement.specifiers) {
        names.set(specifier.local.name, importOf(specifier, statement.source.value));
      }
      break;
    case 'TSImportEqualsDeclaration':
      names.set(statement.id.name, importEquals(statement));
      break;
    case 'VariableDeclaration':
      declareVariables(statement, names);
      break;
    case 'FunctionDeclaration':
    case 'ClassDeclaration':
    case 'TSEnumDeclaration':
      if (statement.id !== null) names.set(statement.id.name, OTHER);
      break;
    case 'ExportNamedDeclaration':
    case 'ExportDefaultDeclaration':
      if (statement.declaration !== null) declareStatement(statement.declaration, names);
      break;
  }
}

function importOf(specifier: NodeOf<'ImportDeclaration'>['specifiers'][number], module: string): Binding {
  if (specifier.type !== 'ImportSpecifier') return { kind: 'import', module, name: '*' };
  const { imported } = specifier;
  const name = imported.type === 'Literal' ? imported.value : imported.name;
  return { kind: 'import', module, name: name === 'default' ? '*' : name };
}

function importEquals({ moduleReference }: NodeOf<'TSImportEqualsDeclaration'>): Binding {
  if (moduleReference.type !== 'TSExternalModuleReference') return OTHER;
  return { kind: 'import', module: moduleReference.expression.value, name: '*' };
}

function declareVariables({ kind, declarations }: NodeOf<'VariableDeclaration'>, names: Names): void {
  for (const { id, init } of declarations) {
    const value = init;
    declarePattern(id, names, (path) => {
      if (value === null || path === undefined) return OTHER;
      if (path.length === 0) return { kind: 'value', value, isConst: kind === 'const' };
      // Deeper patterns name nothing that a rule asks about.
      return path.length === 1 ? { kind: 'member', of: value, name: path[0] as string } : OTHER;
    });
  }
}

/** Declares each name of a pattern; `path` is the properties it is taken from, undefined when they are not spelled out. */
function declarePattern(
  pattern: Node,
  names: Names,
  bind: (path: readonly string[] | undefined) => Binding,
  path: readonly string[] | undefined = [],
): void {
  switch (pattern.type) {
    case 'Identifier':
      names.set(pattern.name, bind(path));
      break;
    case 'ObjectPattern':
      for (const property of pattern.properties) {
        if (property.type === 'RestElement') declarePattern(property, names, bind, undefined);
        else {
          const name = keyName(property.key, property.computed);
          const inner = path === undefined || name === undefined ? undefined : [...path, name];
          declarePattern(property.value, names, bind, inner);
        }
      }
      break;
    case 'ArrayPattern':
      for (const element of pattern.elements) {
        if (element !== null) declarePattern(element, names, bind, undefined);
      }
      break;
    case 'AssignmentPattern':
      declarePattern(pattern.left, names, bind, path);
      break;
    case 'RestElement':
      declarePattern(pattern.argument, names, bind, undefined);
      break;
    case 'TSParameterProperty':
      declarePattern(pattern.parameter, names, bind, path);
      break;
  }
}

/** `var` belongs to the function around it, however deep it stands. */
function declareVars(node: Node, names: Names): void {
  for (const child of childrenOf(node)) {
    if (child.type === 'VariableDeclaration' && child.kind === 'var') declareVariables(child, names);
    if (!FUNCTIONS.has(child.type)) declareVars(child, names);
  }
}

const FUNCTIONS = new Set(['FunctionDeclaration', 'FunctionExpression', 'ArrowFunctionExpression']);
