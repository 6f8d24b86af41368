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
      timeout: 100_000,
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

  it('writes a team whose test passes and whose mission finds what is to be done', async () => {
    const told = await node(command, 'init');
    // The compiler, which it has added, is not there yet.
    expect(told.stdout).toMatch(
      /Now:\n {2}npm install\n {2}npm start .*\n {2}npm test .*\n {2}npm run check /,
    );
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

  it('writes a team that can be simulated, with its files really read', async () => {
    await node(command, 'init');
    const { stdout } = await node(command, 'simulate', 'mission.json', '--seeds', '4');
    expect(stdout).toMatch(/^"notes" under 4 seeds: .*all-accepted [1-4]/);
    expect(stdout).toContain('No seed broke a promise');
  });

  it('leaves what an effect comes to to the reader, who is told what to do about it', async () => {
    await node(command, 'init');
    const editor = join(folder, 'agents/editor.agent.ts');
    const text = readFileSync(editor, 'utf8');
    writeFileSync(
      editor,
      text.replace('ctx.offload(READ_NOTE, { root, file })', "ctx.effect('read-note', () => '')"),
    );
    const simulated = node(command, 'simulate', 'mission.json', '--seeds', '1');
    const refused = (await simulated.catch((error: unknown) => error)) as Refused;
    expect(refused.stderr).toContain("An agent calls ctx.effect('read-note')");
    expect(refused.stderr).toContain('that ctx.offload runs');
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
