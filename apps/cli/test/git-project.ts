import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';

/** A real git repository in a folder of its own. */
export class GitProject implements Disposable {
  readonly path = realpathSync(mkdtempSync(join(tmpdir(), 'orrery-init-')));

  constructor(files: Readonly<Record<string, string>> = {}) {
    this.git('init', '-q', '-b', 'main', '.');
    if (Object.keys(files).length > 0) this.commit(files);
  }

  /** Runs git in it, without the settings of whoever runs the test. */
  git(...args: readonly string[]): string {
    const { GIT_DIR: _, GIT_INDEX_FILE: __, ...env } = process.env;
    return execFileSync('git', args, {
      cwd: this.path,
      encoding: 'utf8',
      env: { ...env, GIT_CONFIG_GLOBAL: '/dev/null', GIT_CONFIG_NOSYSTEM: '1' },
    });
  }

  write(files: Readonly<Record<string, string>>): void {
    for (const [path, text] of Object.entries(files)) {
      mkdirSync(dirname(join(this.path, path)), { recursive: true });
      writeFileSync(join(this.path, path), text);
    }
  }

  commit(files: Readonly<Record<string, string>>): void {
    this.write(files);
    this.git('add', '-A');
    this.git('-c', 'user.name=Ann', '-c', 'user.email=ann@example.org', 'commit', '-q', '-m', 'Begin');
  }

  [Symbol.dispose](): void {
    rmSync(this.path, { recursive: true, force: true });
  }
}
