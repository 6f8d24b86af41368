import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { isAside } from '../aside.ts';
import { type Import, readImports } from '../imports/read-imports.ts';
import { ImportResolver } from '../imports/resolve-import.ts';
import { isMadeByMachine } from '../made-by-machine.ts';
import type { Manifest } from '../packages/manifest.ts';
import type { PackageTree } from '../packages/package-tree.ts';
import { SECTIONS } from '../packages/sections.ts';
import type { SourceText } from '../../findings/source-text.ts';
import { calledName } from '../syntax/called-name.ts';
import type { Node } from '../syntax/node.ts';
import { isScript } from '../syntax/parse-script.ts';
import { walkScript } from '../syntax/walk-script.ts';
import { comesWithPlatform } from './implicit.ts';
import { mayAlias } from './mentions.ts';
import { packageNamed, typesOf } from './package-name.ts';

/** A repository in which more names than this are undeclared resolves its imports in another way. */
const MAX_PLACES = 1_000;

/** The first import of an undeclared package, and in how many files there are others. */
export interface UndeclaredImport {
  readonly name: string;
  readonly file: string;
  readonly offset: number;
  readonly manifest: Manifest;
  otherFiles: number;
}

/** Finds imports of packages that nobody declares, while the repository is read file by file. */
export class Undeclared {
  readonly #root: string;
  readonly #tree: PackageTree;
  readonly #own: ReadonlySet<string>;
  readonly #resolver: ImportResolver;
  readonly #places = new Map<string, UndeclaredImport>();
  readonly #aliases = new Set<string>();

  /** `own`: the names of the repository's packages. */
  constructor(root: string, tree: PackageTree, own: ReadonlySet<string>) {
    this.#root = root;
    this.#tree = tree;
    this.#own = own;
    this.#resolver = new ImportResolver(root);
  }

  look(source: SourceText): void {
    const { file, text } = source;
    if (mayAlias(file)) for (const [, alias = ''] of text.matchAll(ALIAS)) this.#aliases.add(alias);
    const manifest = this.#tree.owner(file);
    if (manifest === undefined || !isScript(file) || isAside(file) || isMadeByMachine(source)) return;
    const found = readImports(source);
    if ('unparsable' in found) return;
    const seen = new Set<string>();
    for (const one of found.imports) {
      const name = one.kind === 'type' ? undefined : packageNamed(one.specifier);
      if (name === undefined || seen.has(name) || !this.#isMissing(name, one, source)) continue;
      seen.add(name);
      this.#add(name, one, source, manifest);
    }
  }

  /** Those that no setting of a tool explains. */
  found(): UndeclaredImport[] {
    return [...this.#places.values()].filter(({ name }) => {
      const scope = name.split('/')[0] as string;
      return !this.#aliases.has(name) && !this.#aliases.has(scope);
    });
  }

  #isMissing(name: string, { specifier, offset }: Import, source: SourceText): boolean {
    if (this.#own.has(name) || comesWithPlatform(name)) return false;
    for (const { fields } of this.#tree.around(source.file)) {
      if (SECTIONS.some((section) => Object.hasOwn(fields[section], name))) return false;
      if (SECTIONS.some((section) => Object.hasOwn(fields[section], typesOf(name)))) return false;
    }
    // `paths`, `baseUrl` and links between workspaces lead to files of the repository.
    if (this.#resolver.resolve(source.file, specifier) !== 'outside') return false;
    return !this.#isFolder(name, source.file) && !isTried(offset, source);
  }

  /** Bundlers take imports from the folders that they are told of, mostly these. */
  #isFolder(name: string, file: string): boolean {
    const first = name.split('/')[0] as string;
    const bases = ['', 'src/', 'app/', 'lib/'];
    const folders = ['', ...[...this.#tree.around(file)].map(({ folder }) => folder)];
    return folders.some((folder) => bases.some((base) => existsSync(join(this.#root, folder, base, first))));
  }

  #add(name: string, { offset }: Import, { file }: SourceText, manifest: Manifest): void {
    const key = `${manifest.file}\0${name}`;
    const known = this.#places.get(key);
    if (known !== undefined) known.otherFiles += 1;
    else if (this.#places.size < MAX_PLACES)
      this.#places.set(key, { name, file, offset, manifest, otherFiles: 0 });
  }
}

const ALIAS = /["'`]\^?(@?[\w.~-]+(?:\/[\w.~-]+)?)/g;

/** Whether somebody has thought of it that the package may be missing: by `try`, or by `import().catch()`. */
function isTried(offset: number, source: SourceText): boolean {
  let isTried = false;
  walkScript(source, (node, _scope, ancestors) => {
    if (node.start === offset && node.type === 'Literal') isTried = ancestors.some(isAttempt);
  });
  return isTried;
}

const isAttempt = (node: Node): boolean =>
  node.type === 'TryStatement' || (node.type === 'MemberExpression' && calledName(node) === 'catch');
