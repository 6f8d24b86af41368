import { execFile } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { installedPackage } from '../../fixtures/installed-package.ts';

const run = promisify(execFile);

/** A program that ended with another code than 0. */
interface Refused {
  readonly code: number;
  readonly stderr: string;
}

describe('orrery init of the packed package', () => {
  const modules = join(installedPackage(), 'node_modules');
  const command = join(modules, '.bin/orrery');
  let folder: string;
  const manifest = (): Record<string, Record<string, string>> =>
    JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as Record<string, Record<string, string>>;
  const node = (...words: readonly string[]) =>
    run(process.execPath, words, {
      cwd: folder,
      timeout: 60_000,
      // A test runner within a test runner speaks otherwise.
      env: { ...process.env, NODE_TEST_CONTEXT: undefined, NODE_OPTIONS: undefined },
    });

  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'orrery-init-'));
    symlinkSync(modules, join(folder, 'node_modules'));
    writeFileSync(
      join(folder, 'package.json'),
      JSON.stringify({ name: 'team', type: 'commonjs', dependencies: { orrery: 'file:orrery.tgz' } }),
    );
  });
  afterEach(() => rmSync(folder, { recursive: true }));

  it('writes a team whose test passes and whose mission finds what is to be done', {
    timeout: 90_000,
  }, async () => {
    await node(command, 'init');
    expect(manifest()).toMatchObject({
      type: 'module',
      scripts: { start: 'orrery run mission.json', test: 'node --test' },
      dependencies: { orrery: 'file:orrery.tgz' },
    });
    const tested = await node('--test', 'test/*.test.ts');
    expect(tested.stdout).toContain('pass 1');
    const { stdout } = await node(command, 'run', 'mission.json');
    expect(stdout).toContain('notes.todo');
    expect(stdout).toContain('all tasks accepted');
  });

  it('overwrites nothing, and names what is in the way', async () => {
    writeFileSync(join(folder, 'mission.json'), 'mine');
    const refused = (await node(command, 'init').catch((error: unknown) => error)) as Refused;
    expect(refused.code).toBe(64);
    expect(refused.stderr).toContain('already has mission.json');
    expect(readFileSync(join(folder, 'mission.json'), 'utf8')).toBe('mine');
    expect(existsSync(join(folder, 'agents'))).toBe(false);
  });

  it('keeps what package.json has, and refuses a script of its own name', async () => {
    writeFileSync(
      join(folder, 'package.json'),
      JSON.stringify({ scripts: { start: 'node mine.js' }, dependencies: { orrery: '1' } }),
    );
    const refused = (await node(command, 'init').catch((error: unknown) => error)) as Refused;
    expect(refused.stderr).toContain('package.json already has a script "start": "node mine.js"');
    expect(existsSync(join(folder, 'agents'))).toBe(false);
  });
});
