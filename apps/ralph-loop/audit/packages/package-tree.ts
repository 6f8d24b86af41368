import { MANIFEST, type Manifest, readManifest } from './manifest.ts';

/** More packages than this are no repository that a team works on. */
const MAX_PACKAGES = 2_000;

type Noting = (kind: string, reason: string, file?: string) => void;

/** The packages of a repository: who owns which file. */
export class PackageTree {
  readonly #byFolder = new Map<string, Manifest>();

  /** Reads those of `files` that are a package.json. `root` is a real path. */
  static read(
    root: string,
    files: readonly string[],
    { note, saw }: { readonly note: Noting; readonly saw: (bytes: number) => void },
  ): PackageTree {
    const tree = new PackageTree();
    const found = files.filter((file) => file === MANIFEST || file.endsWith(`/${MANIFEST}`));
    for (const file of found.slice(0, MAX_PACKAGES)) {
      const read = readManifest(root, file);
      if ('skipped' in read) note(read.skipped, read.reason, file);
      else {
        saw(read.bytes);
        tree.#byFolder.set(read.manifest.folder, read.manifest);
      }
    }
    if (found.length > MAX_PACKAGES) {
      note(
        'package-limit',
        `is the first of ${found.length - MAX_PACKAGES} packages that were not looked at`,
        found[MAX_PACKAGES],
      );
    }
    return tree;
  }

  get all(): Iterable<Manifest> {
    return this.#byFolder.values();
  }

  /** The package whose package.json lies in `folder`, '' or ending in '/'. */
  at(folder: string): Manifest | undefined {
    return this.#byFolder.get(folder);
  }

  /** The packages that `file` lies in, the nearest first. */
  *around(file: string): Generator<Manifest> {
    let folder = file;
    while (folder !== '') {
      folder = folder.slice(0, folder.lastIndexOf('/', folder.length - 2) + 1);
      const manifest = this.#byFolder.get(folder);
      if (manifest !== undefined) yield manifest;
    }
  }

  /** The package that `file` belongs to. */
  owner(file: string): Manifest | undefined {
    for (const manifest of this.around(file)) return manifest;
    return undefined;
  }
}
