import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { installedPackage } from '../../fixtures/installed-package.ts';
import { pageOf, samplesOf } from '../../fixtures/samples.ts';

const MODULES = fileURLToPath(new URL('../../../node_modules', import.meta.url));
const TIMEOUT_MS = 120_000;

describe('docs/start.md with the packed package', () => {
  const page = pageOf('docs/start.md');
  const samples = samplesOf(page);
  let folder: string;
  const node = async (...words: readonly string[]): Promise<string> => {
    const { stdout } = await promisify(execFile)(process.execPath, words, {
      cwd: folder,
      timeout: TIMEOUT_MS,
    });
    return stdout;
  };
  const compile = (...words: readonly string[]): Promise<string> =>
    node(join(MODULES, 'typescript/bin/tsc'), '--typeRoots', join(MODULES, '@types'), ...words);
  const blockOf = (language: string): string =>
    new RegExp(`^\`\`\`${language}\n(.*?)^\`\`\``, 'ms').exec(page)?.[1] ?? '';

  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'orrery-start-'));
    symlinkSync(join(installedPackage(), 'node_modules'), join(folder, 'node_modules'));
    writeFileSync(join(folder, 'package.json'), '{ "type": "module" }');
    writeFileSync(join(folder, 'tsconfig.json'), blockOf('json'));
    for (const { name, code } of samples) writeFileSync(join(folder, name ?? 'sample.ts'), code);
  });
  afterEach(() => rmSync(folder, { recursive: true }));

  it('has a tsconfig.json with which its files have no faults, and run as they are and compiled', {
    timeout: 2 * TIMEOUT_MS,
  }, async () => {
    const main = samples.find(({ name }) => name === 'main.ts');
    const { imported, url } =
      /^(?<imported>import .*)\n\nconst mars = (?<url>.*);\n$/.exec(blockOf('js'))?.groups ?? {};
    const text = main?.code.replace("new URL('./mars.ts', import.meta.url)", String(url));
    writeFileSync(join(folder, 'main.ts'), `${imported}\n${text}`);
    expect(await compile()).toBe('');
    expect(await node('main.ts')).toBe(main?.prints);
    expect(await node('out/main.js')).toBe(main?.prints);
  });
});
