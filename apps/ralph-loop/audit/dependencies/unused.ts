import { parseJson } from '../json/parse-json.ts';
import type { Manifest } from '../packages/manifest.ts';
import type { PackageTree } from '../packages/package-tree.ts';
import { SECTIONS } from '../packages/sections.ts';
import { readSource } from '../../findings/read-source.ts';
import type { SourceText } from '../../findings/source-text.ts';
import type { ManifestFault } from './fault.ts';
import { listsOnly } from './implicit.ts';
import { installed } from './installed.ts';
import type { Lock } from './lock-file.ts';
import { mayMention, wordsIn } from './mentions.ts';

/** Finds the dependencies that nothing in the repository mentions, while it is read file by file. */
export class Unused {
  readonly #tree: PackageTree;
  /** Who still looks for each name. */
  readonly #wanted = new Map<string, Set<Manifest>>();
  readonly #unknown: string[] = [];

  constructor(root: string, tree: PackageTree, locks: readonly Lock[]) {
    this.#tree = tree;
    for (const manifest of tree.all) this.#want(root, manifest, locks);
  }

  /** Dependencies of which nobody knows what commands they bring: they were not looked for. */
  get unknown(): readonly string[] {
    return this.#unknown;
  }

  /** A file speaks for the packages it lies in; what lies at the root speaks for all. */
  look(source: SourceText): void {
    if (this.#wanted.size === 0 || !mayMention(source.file)) return;
    const isAtRoot = !source.file.includes('/');
    for (const word of wordsIn(source)) {
      const manifests = this.#wanted.get(word);
      if (manifests === undefined) continue;
      if (isAtRoot) this.#wanted.delete(word);
      for (const manifest of this.#tree.around(source.file)) this.#found(word, manifest);
    }
  }

  faults(): ManifestFault[] {
    return [...this.#wanted].flatMap(([name, manifests]) =>
      [...manifests].map(({ file }) => ({
        file,
        path: ['dependencies', name],
        rule: 'dependencies.unused',
        message: `${name} is declared, and nothing mentions it`,
      })),
    );
  }

  #want(root: string, manifest: Manifest, locks: readonly Lock[]): void {
    const { folder, fields } = manifest;
    const names = Object.keys(fields.dependencies).filter((name) => !listsOnly(name));
    const words = names.length === 0 ? new Set<string>() : ownWords(root, manifest);
    const expected = names.length === 0 ? new Set<string>() : expectedBeside(root, manifest, locks);
    for (const name of names) {
      const known = installed(root, { folder, name, locks });
      if (known === undefined) this.#unknown.push(name);
      if (known === undefined || words.has(name) || known.commands.some((command) => words.has(command)))
        continue;
      if (expected.has(name)) continue;
      this.#wanted.set(name, (this.#wanted.get(name) ?? new Set()).add(manifest));
    }
  }

  #found(name: string, manifest: Manifest): void {
    const manifests = this.#wanted.get(name);
    if (manifests?.delete(manifest) && manifests.size === 0) this.#wanted.delete(name);
  }
}

/** What a package.json says beside its lists of dependencies: scripts, settings of tools. */
function ownWords(root: string, { file }: Manifest): ReadonlySet<string> {
  const read = readSource(root, file);
  const parsed = 'source' in read ? parseJson(read.source.text) : { fault: '' };
  if ('fault' in parsed) return new Set();
  const others = Object.entries(parsed.value as object).filter(
    ([key]) => !(SECTIONS as readonly string[]).includes(key),
  );
  const text = JSON.stringify(Object.fromEntries(others));
  return new Set(text.match(/(?:@[\w.~-]+\/)?[A-Za-z0-9~][\w.~-]*/g));
}

/** What the dependencies of a package expect beside themselves. */
function expectedBeside(
  root: string,
  { folder, fields }: Manifest,
  locks: readonly Lock[],
): ReadonlySet<string> {
  const names = [...Object.keys(fields.dependencies), ...Object.keys(fields.devDependencies)];
  return new Set(names.flatMap((name) => installed(root, { folder, name, locks })?.needs ?? []));
}
