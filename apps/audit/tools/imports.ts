import { join, sep } from 'node:path';
import type { SourceText } from '@orrery/ralph-loop/findings/source-text';
import { parseSync, Visitor } from 'oxc-parser';
import { type NapiResolveOptions, ResolverFactory } from 'oxc-resolver';

/**
 * An import of a script.
 *
 * - `offset`  of the specifier, in UTF-16 units.
 * - `isType`  it is removed with the types.
 * - `isLazy`  it is loaded by a call, so it may be missing until then.
 */
export interface Import {
  readonly specifier: string;
  readonly offset: number;
  readonly isType: boolean;
  readonly isLazy: boolean;
}

/** Finds the imports of a script with literal specifiers; none if it cannot be parsed. */
export function importsOf({ file, text }: SourceText): Import[] {
  const { module, program, errors } = parseSync(file, text);
  if (errors.some(({ severity }) => severity === 'Error')) return [];
  const found: Import[] = [];
  const add = (specifier: string, offset: number, how: Partial<Import> = {}): void => {
    found.push({ specifier, offset, isType: false, isLazy: false, ...how });
  };
  for (const { moduleRequest, entries } of module.staticImports)
    add(moduleRequest.value, moduleRequest.start, {
      isType: entries.length > 0 && entries.every(({ isType }) => isType),
    });
  for (const { entries } of module.staticExports) {
    const request = entries[0]?.moduleRequest;
    if (request != null) add(request.value, request.start, { isType: entries.every(({ isType }) => isType) });
  }
  for (const { moduleRequest } of module.dynamicImports) {
    const written = /^(['"`])([^'"`$\\]+)\1$/.exec(text.slice(moduleRequest.start, moduleRequest.end))?.[2];
    if (written !== undefined) add(written, moduleRequest.start, { isLazy: true });
  }
  if (/\brequire\s*\(/.test(text)) {
    let guarded = 0;
    new Visitor({
      TryStatement: () => {
        guarded += 1;
      },
      'TryStatement:exit': () => {
        guarded -= 1;
      },
      CallExpression: ({ callee, arguments: [name] }) => {
        if (callee.type !== 'Identifier' || callee.name !== 'require' || name?.type !== 'Literal') return;
        if (typeof name.value === 'string') add(name.value, name.start, { isLazy: guarded > 0 });
      },
    }).visit(program);
  }
  return found;
}

const RESOLUTION: NapiResolveOptions = {
  extensions: ['.ts', '.tsx', '.mts', '.cts', '.js', '.jsx', '.mjs', '.cjs', '.json', '.d.ts'],
  // TypeScript sources import each other by the names of the compiled files.
  extensionAlias: {
    '.js': ['.ts', '.tsx', '.js', '.jsx'],
    '.jsx': ['.tsx', '.jsx'],
    '.mjs': ['.mts', '.mjs'],
    '.cjs': ['.cts', '.cjs'],
  },
  conditionNames: ['import', 'require', 'node', 'default', 'types'],
  mainFields: ['module', 'main', 'types'],
  builtinModules: true,
  nodePath: false,
};

/** Resolves imports to files of the repository. It reads file names and JSON only. */
export class ImportResolver {
  readonly #root: string;
  readonly #withConfig = new ResolverFactory({ ...RESOLUTION, tsconfig: 'auto' });
  /** Without tsconfig.json, for files under one that cannot be read. */
  readonly #plain = new ResolverFactory(RESOLUTION);

  /** `root` is a real path. */
  constructor(root: string) {
    this.#root = root;
  }

  /** The file, relative to the root; `outside` for packages and built-ins; `nowhere` if nothing is found. */
  resolve(file: string, specifier: string): { readonly file: string } | 'outside' | 'nowhere' {
    const from = join(this.#root, file);
    const asked = specifier.replace(/[?#].*$/, '') || specifier;
    const answer = this.#withConfig.resolveFileSync(from, asked);
    const found = answer.error === undefined ? answer : this.#plain.resolveFileSync(from, asked);
    if (found.builtin !== undefined) return 'outside';
    if (found.path === undefined) return 'nowhere';
    if (!found.path.startsWith(this.#root + sep) || found.path.includes(`${sep}node_modules${sep}`))
      return 'outside';
    return {
      file: found.path
        .slice(this.#root.length + 1)
        .split(sep)
        .join('/'),
    };
  }
}
