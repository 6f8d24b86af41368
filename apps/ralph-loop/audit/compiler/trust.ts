import { posix } from 'node:path';
import type { Diagnostic, Node, Program, SourceFile, Type } from 'typescript';
import type { BoundedFiles } from './bounded-files.ts';
import { hasTypes, resolvedPath, type Taint } from './taint.ts';
import { ts } from './typescript.ts';

/**
 * What to make of a diagnostic.
 *
 * - `defect`   of the repository.
 * - `package`  a package, or the platform's declarations, are not installed.
 * - `unbuilt`  a package of the repository itself has not been built, so its declarations are not there.
 * - `unloaded` about a file that was left out of the program.
 * - `follows`  may follow from one of these: what is not known is `any`, and `any` is complained about.
 */
export type Trust = 'defect' | 'package' | 'unbuilt' | 'unloaded' | 'follows';

const MODULE_NOT_FOUND = new Set([2307, 2792, 2882, 7016]);
/** "Cannot find type definition file", "requires the module path react/jsx-runtime". */
const PACKAGE_NOT_FOUND = new Set([2688, 2875]);
/** "Do you need to install type definitions for node, jQuery, a test runner", "no interface JSX.IntrinsicElements". */
const PLATFORM_NOT_FOUND = new Set([2580, 2581, 2582, 2584, 2591, 2592, 2593, 7026]);
const NAME_NOT_FOUND = new Set([2304, 2503, 2552]);
/**
 * What is wrong whatever the unknown types are: names, members, arguments, assignments of known types to known types.
 * Everything else that is said about a tainted file may follow from what is missing.
 */
const HOLDS_ANYWAY = new Set([
  2300, 2304, 2305, 2307, 2322, 2339, 2345, 2353, 2362, 2363, 2365, 2393, 2451, 2503, 2540, 2551, 2552, 2554,
  2555, 2588, 2614, 2724, 2739, 2740, 2741,
]);
/** Duplicate and unknown names, assignments to constants. */
const OF_ONE_FILE = new Set([2300, 2304, 2393, 2451, 2503, 2540, 2552, 2588]);
const NOT_ASSIGNABLE = 2322;
const BETWEEN_PRIMITIVES =
  /^Type '(string|number|boolean|bigint|"[^"]*"|[\d.]+|true|false)' is not assignable to type '(string|number|boolean|bigint)'\.$/;
const SPEAKS_OF_UNKNOWN = /\b(any|unknown|never)\b|'\{\}'/;
const NO_SUCH_MEMBER = new Set([2339, 2551]);

const TEST_GLOBALS = [
  'describe',
  'it',
  'test',
  'expect',
  'beforeEach',
  'afterEach',
  'beforeAll',
  'afterAll',
  'vi',
  'jest',
];
/** Names that a package's declarations provide, not the language: what this very process has, and test runners'. */
const PLATFORM_NAMES = new Set([
  ...Object.getOwnPropertyNames(globalThis),
  ...TEST_GLOBALS,
  'NodeJS',
  'JSX',
  'React',
]);

export interface TrustContext {
  readonly program: Program;
  readonly files: BoundedFiles;
  /** Whether packages are installed anywhere the project would look. */
  readonly hasPackages: boolean;
  /** Files whose types depend on something that the program does not have. */
  readonly tainted: ReadonlyMap<string, Taint>;
}

export function trustIn(diagnostic: Diagnostic, context: TrustContext): Trust {
  const { files } = context;
  const isIncomplete = !context.hasPackages || files.lacksPackages;
  const { code } = diagnostic;
  const specifier = MODULE_NOT_FOUND.has(code) ? quotedIn(diagnostic) : undefined;
  if (specifier !== undefined) {
    if (isLeftOut(diagnostic, specifier, context)) return 'unloaded';
    if (!isBare(specifier)) return 'defect';
    if (isWorkspacePackage(diagnostic, specifier, files)) return 'unbuilt';
    return isIncomplete ? 'package' : 'defect';
  }
  if (isIncomplete && isAboutPlatform(diagnostic)) return 'package';
  const taint = diagnostic.file === undefined ? undefined : context.tainted.get(diagnostic.file.fileName);
  if (taint === undefined || isSyntaxError(diagnostic)) return 'defect';
  const holds =
    taint === 'unloaded' ? needsNothingElse(diagnostic) : holdsAnyway(diagnostic, context.program);
  return holds ? 'defect' : 'follows';
}

/** What was left out has been read by nobody: only what no other file could change is said about those that need it. */
const needsNothingElse = (diagnostic: Diagnostic): boolean =>
  OF_ONE_FILE.has(diagnostic.code) ||
  (diagnostic.code === NOT_ASSIGNABLE && BETWEEN_PRIMITIVES.test(textOf(diagnostic)));

const isSyntaxError = ({ code }: Diagnostic): boolean => code < 2000;

const holdsAnyway = (diagnostic: Diagnostic, program: Program): boolean =>
  HOLDS_ANYWAY.has(diagnostic.code) &&
  !SPEAKS_OF_UNKNOWN.test(textOf(diagnostic)) &&
  !isOnUnknownBase(diagnostic, program);

function isAboutPlatform(diagnostic: Diagnostic): boolean {
  const { code } = diagnostic;
  if (PACKAGE_NOT_FOUND.has(code) || PLATFORM_NOT_FOUND.has(code)) return true;
  const name = quotedIn(diagnostic) ?? '';
  if (NAME_NOT_FOUND.has(code)) return PLATFORM_NAMES.has(name);
  // `import.meta.url` and such, which @types/node and bundlers declare.
  return NO_SUCH_MEMBER.has(code) && textOf(diagnostic).includes("'ImportMeta");
}

const textOf = ({ messageText }: Diagnostic): string => ts.flattenDiagnosticMessageText(messageText, '\n');

/** The first name in quotes of the message: the module, or the identifier. */
export const quotedIn = (diagnostic: Diagnostic): string | undefined =>
  /'([^']+)'/.exec(textOf(diagnostic))?.[1];

/** `@/x`, `~/x` and `#x` are aliases that only the repository itself can define. */
const isBare = (specifier: string): boolean => !/^(\.|\/|@\/|~\/|#)/.test(specifier);

/** Whether a package is a link into the repository. */
function isWorkspacePackage({ file }: Diagnostic, specifier: string, files: BoundedFiles): boolean {
  const name = /^(@[^/]+\/)?[^/]+/.exec(specifier)?.[0] ?? specifier;
  for (let at = posix.dirname(file?.fileName ?? '/'); at !== posix.dirname(at); at = posix.dirname(at)) {
    const linked = ts.sys.realpath?.(posix.join(at, 'node_modules', name));
    if (linked !== undefined && files.isOwn(linked)) return true;
  }
  return false;
}

/** Whether the module is there, and only the program does not have it. */
function isLeftOut({ file }: Diagnostic, specifier: string, { files, program }: TrustContext): boolean {
  if (file === undefined) return false;
  const path = resolvedPath(specifier, file, program, { files });
  if (path === undefined) return false;
  return files.refused.has(path) || (hasTypes(path) && program.getSourceFile(path) === undefined);
}

/** "Property does not exist" on something whose base class or interface is not known. */
function isOnUnknownBase({ file, start, code }: Diagnostic, program: Program): boolean {
  if (!NO_SUCH_MEMBER.has(code) || file === undefined || start === undefined) return false;
  const access = nodeAt(file, start).parent;
  if (!ts.isPropertyAccessExpression(access)) return false;
  return hasUnknownBase(program.getTypeChecker().getTypeAtLocation(access.expression), program, 5);
}

function nodeAt(file: SourceFile, position: number): Node {
  let found: Node = file;
  const descend = (node: Node): void => {
    if (position < node.pos || position >= node.end) return;
    found = node;
    ts.forEachChild(node, descend);
  };
  ts.forEachChild(file, descend);
  return found;
}

function hasUnknownBase(type: Type, program: Program, steps: number): boolean {
  const checker = program.getTypeChecker();
  const declarations = type.symbol?.declarations ?? [];
  return declarations.some((declaration) => {
    if (!ts.isClassLike(declaration) && !ts.isInterfaceDeclaration(declaration)) return false;
    const bases = (declaration.heritageClauses ?? []).flatMap(({ types }) => [...types]);
    return bases.some((base) => {
      const known = checker.getTypeAtLocation(base.expression);
      const isUnknown = (known.flags & ts.TypeFlags.Any) !== 0;
      return isUnknown || (steps > 0 && hasUnknownBase(checker.getTypeAtLocation(base), program, steps - 1));
    });
  });
}
