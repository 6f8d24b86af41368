import { execFile } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';
import { installedPackage } from '../../fixtures/installed-package.ts';

const run = promisify(execFile);
const ROOT = fileURLToPath(new URL('../../..', import.meta.url));

/** The optional packages that the types of an entry are made of: whoever imports it has installed them. */
const PEERS: Readonly<Record<string, readonly string[]>> = {
  './mcp': ['@modelcontextprotocol/client'],
  './models': ['ai'],
};
const IMPORTED = /(?:from|import)\s*\(?\s*['"]([^'"]+)['"]/g;

describe('the types of the packed package, with skipLibCheck off', () => {
  const folder = installedPackage();
  const home = join(folder, 'node_modules/orrery');
  const manifest = JSON.parse(readFileSync(join(home, 'package.json'), 'utf8'));
  const { './package.json': _, ...exports }: Record<string, { types: string }> = manifest.exports;
  const entries = Object.keys(exports);

  it.each(entries)('of %s lead to no optional package but its own', (entry) => {
    const reached = packagesOf(resolve(home, exports[entry]?.types ?? ''));
    const optional = [...reached].filter((name) => name in manifest.peerDependencies);
    expect(optional.toSorted()).toEqual(PEERS[entry] ?? []);
  });

  it('hold without any optional package', async () => {
    const own = join(folder, 'types');
    mkdirSync(own);
    cpSync(join(ROOT, 'examples/hello.ts'), join(own, 'hello.ts'));
    const plain = entries.filter((entry) => !(entry in PEERS));
    expect(plain).toContain('.');
    expect(await faultsOf(own, plain)).toEqual([]);
  }, 300_000);

  it('hold with those of an entry', async () => {
    const own = mkdtempSync(join(tmpdir(), 'orrery-types-'));
    try {
      cpSync(join(folder, 'node_modules'), join(own, 'node_modules'), { recursive: true });
      for (const peer of Object.values(PEERS).flat()) {
        mkdirSync(dirname(join(own, 'node_modules', peer)), { recursive: true });
        symlinkSync(join(ROOT, 'node_modules', peer), join(own, 'node_modules', peer));
      }
      const faults = await faultsOf(own, Object.keys(PEERS));
      // What is wrong with the types of other packages is theirs.
      expect(faults.filter((line) => /^(?:node_modules\/orrery\/|entry-\d)/.test(line))).toEqual([]);
    } finally {
      rmSync(own, { recursive: true, force: true });
    }
  }, 300_000);
});

/** The packages that a declaration file, and all that it leads to, import from. */
function packagesOf(file: string, found = new Set<string>(), seen = new Set<string>()): ReadonlySet<string> {
  if (seen.has(file)) return found;
  seen.add(file);
  for (const [, path = ''] of readFileSync(file, 'utf8').matchAll(IMPORTED)) {
    if (path.startsWith('.'))
      packagesOf(resolve(dirname(file), path.replace(/\.[tj]s$/, '.d.ts')), found, seen);
    else found.add(path.split('/', path.startsWith('@') ? 2 : 1).join('/'));
  }
  return found;
}

/** What tsc has against a project that imports these entries, beside the files that are in it. */
async function faultsOf(folder: string, entries: readonly string[]): Promise<readonly string[]> {
  for (const [n, entry] of entries.entries()) {
    const source = `import * as it from 'orrery${entry.slice(1)}';\nexport const all = it;\n`;
    writeFileSync(join(folder, `entry-${n}.ts`), source);
  }
  const compilerOptions = {
    module: 'NodeNext',
    target: 'ES2024',
    // The types of yjs need those of a browser.
    lib: ['ES2024', 'ESNext.Disposable', 'DOM'],
    types: ['node'],
    typeRoots: [join(ROOT, 'node_modules/@types')],
    strict: true,
    noUncheckedIndexedAccess: true,
    skipLibCheck: false,
    noEmit: true,
  };
  writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify({ compilerOptions, include: ['*.ts'] }));
  const tsc = join(ROOT, 'node_modules/typescript/bin/tsc');
  const output = await run(process.execPath, [tsc, '-p', folder]).catch(
    (error: { stdout?: string }) => error,
  );
  return (output.stdout ?? String(output)).split('\n').filter((line) => line !== '');
}
