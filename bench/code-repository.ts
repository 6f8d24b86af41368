import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';

const FILES = 200;
const FOLDERS = 20;
const LINES = 40;

/** A test for each file that a task has written. */
const TESTS = `
import { test } from 'node:test';
import { readdirSync, readFileSync } from 'node:fs';
for (const name of readdirSync('.').filter((file) => file.endsWith('.txt')))
  test(name, () => {
    if (!readFileSync(name, 'utf8').includes('is written')) throw new Error(name);
  });
`;

/** A fresh git repository of 200 small files and a test, in a folder of its own, until it is disposed of. */
export class CodeRepository implements Disposable {
  readonly folder = realpathSync(mkdtempSync(join(tmpdir(), 'orrery-bench-code-')));
  readonly root = join(this.folder, 'shop');
  /** Without the user's settings of git, and with the Node that runs this as `node`. */
  readonly env: NodeJS.ProcessEnv = {
    ...process.env,
    PATH: `${dirname(process.execPath)}${delimiter}${process.env['PATH']}`,
    GIT_CONFIG_GLOBAL: '/dev/null',
    GIT_CONFIG_NOSYSTEM: '1',
    XDG_STATE_HOME: join(this.folder, 'state'),
    XDG_RUNTIME_DIR: join(this.folder, 'runtime'),
  };

  constructor() {
    mkdirSync(this.root);
    this.git('init', '-q', '-b', 'main', '.');
    this.git('config', 'user.name', 'Ada');
    this.git('config', 'user.email', 'ada@example.org');
    for (let file = 0; file < FILES; file++) {
      const path = join(this.root, 'src', `part-${file % FOLDERS}`, `file-${file}.js`);
      mkdirSync(dirname(path), { recursive: true });
      writeFileSync(path, `export const value${file} = ${file};\n`.repeat(LINES));
    }
    writeFileSync(join(this.root, 'package.json'), '{ "type": "module" }\n');
    writeFileSync(join(this.root, '.gitignore'), '.trees/\n.orrery/\n');
    writeFileSync(join(this.root, 'all.test.js'), TESTS);
    this.git('add', '-A');
    this.git('commit', '-q', '-m', 'The shop');
  }

  git(...args: readonly string[]): string {
    return execFileSync('git', args, { cwd: this.root, env: this.env, encoding: 'utf8' }).trim();
  }

  /** The files at the top of a commit. */
  filesAt(commit: string): readonly string[] {
    return this.git('ls-tree', '--name-only', commit).split('\n');
  }

  [Symbol.dispose](): void {
    rmSync(this.folder, { recursive: true, force: true });
  }
}
