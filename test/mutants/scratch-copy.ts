import { spawnSync } from 'node:child_process';
import {
  copyFileSync,
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readlinkSync,
  realpathSync,
  rmSync,
  symlinkSync,
} from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join, relative } from 'node:path';
import { applyPatch } from './patch.ts';

/** Ignored by git and by all tools; inside the repository, so that packages are found by looking upwards. */
const SCRATCH = '.scratch';

/** From where our own packages are imported by name. */
const IMPORTS: readonly (readonly [from: string, name: string])[] = [
  ['test/fixtures/agents/x.ts', 'orrery'],
  ['examples/x.ts', 'orrery'],
  ['apps/cli/x.ts', 'orrery'],
  ['apps/cli/x.ts', '@orrery/ralph-loop'],
  ['apps/cli/x.ts', '@orrery/audit'],
  ['apps/audit/x.ts', 'orrery'],
  ['apps/audit/x.ts', '@orrery/ralph-loop'],
  ['apps/ralph-loop/x.ts', 'orrery'],
];

/**
 * A copy of the working tree that may be broken.
 *
 * It has what git tracks, and what is new and not ignored, as it stands now. Packages of others are found in the
 * `node_modules` of the repository around it; our own lead into the copy, which is checked.
 */
export class ScratchCopy {
  readonly folder: string;

  constructor(root: string) {
    mkdirSync(join(root, SCRATCH), { recursive: true });
    this.folder = realpathSync(mkdtempSync(join(root, SCRATCH, 'mutants-')));
    try {
      for (const file of workingFiles(root)) this.#copy(root, file);
      this.#linkPackages(root);
      requireOwnPackages(this.folder);
    } catch (error) {
      this.remove();
      throw error;
    }
  }

  /** Runs `run` with the patch applied. */
  async mutated<Result>(patch: string, run: () => Promise<Result>): Promise<Result> {
    applyPatch(this.folder, patch, 'apply');
    try {
      return await run();
    } finally {
      applyPatch(this.folder, patch, 'revert');
    }
  }

  remove(): void {
    rmSync(this.folder, { recursive: true, force: true, maxRetries: 3 });
  }

  #copy(root: string, file: string): void {
    const [from, to] = [join(root, file), join(this.folder, file)];
    mkdirSync(dirname(to), { recursive: true });
    if (lstatSync(from).isSymbolicLink()) symlinkSync(readlinkSync(from), to);
    else copyFileSync(from, to);
  }

  #linkPackages(root: string): void {
    for (const link of ownLinks(root)) {
      mkdirSync(dirname(join(this.folder, link)), { recursive: true });
      symlinkSync(readlinkSync(join(root, link)), join(this.folder, link));
    }
    for (const app of readdirSync(join(root, 'apps'))) {
      const modules = join('apps', app, 'node_modules');
      if (existsSync(join(root, modules))) symlinkSync(join(root, modules), join(this.folder, modules));
    }
  }
}

/** Every file of the working tree that git does not ignore. */
function workingFiles(root: string): readonly string[] {
  const args = ['ls-files', '-z', '--cached', '--others', '--exclude-standard'];
  const { status, stdout, stderr, error } = spawnSync('git', args, {
    cwd: root,
    encoding: 'utf8',
    maxBuffer: 64 * 1024 * 1024,
  });
  if (status !== 0) throw new Error(`git does not list the files of ${root}: ${error?.message ?? stderr}`);
  // A conflict lists a file several times, and what was deleted is still listed.
  return [...new Set(stdout.split('\0'))].filter((file) => file !== '' && existsSync(join(root, file)));
}

/** The links in `node_modules` that lead out of it: to the packages of this repository. */
function ownLinks(root: string): readonly string[] {
  const modules = join(realpathSync(root), 'node_modules');
  const names = readdirSync(modules).flatMap((name) =>
    name.startsWith('@') ? readdirSync(join(modules, name)).map((inner) => join(name, inner)) : [name],
  );
  return names
    .filter((name) => lstatSync(join(modules, name)).isSymbolicLink())
    .filter((name) => relative(modules, realpathSync(join(modules, name))).startsWith('..'))
    .map((name) => join('node_modules', name));
}

/** Throws when one of our own packages, imported in the copy, leads out of it: then no mutant would ever be seen. */
function requireOwnPackages(folder: string): void {
  for (const [from, name] of IMPORTS) {
    const found = realpathSync(createRequire(join(folder, from)).resolve(name));
    if (relative(folder, found).startsWith('..'))
      throw new Error(`${from} in the copy imports ${name} from ${found}, outside of it`);
  }
}
