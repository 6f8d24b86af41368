/**
 * Compiles the package to dist/.
 *
 * tsc rewrites `.ts` in imports, not in `new URL('./entry.ts', import.meta.url)`, by which worker entries are found:
 * this does, and fails when such an entry was not built.
 */
import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';

const OUT = 'dist';
const ENTRY_URL = /(new URL\(\s*['"])(\.{1,2}\/[^'"]+)\.ts(['"],\s*import\.meta\.url\s*\))/g;

rmSync(OUT, { recursive: true, force: true });
const compiled = spawnSync('tsc', ['-p', 'tsconfig.build.json'], { stdio: 'inherit' });
if (compiled.status !== 0) process.exit(compiled.status ?? 1);

const missing: string[] = [];
const scripts = readdirSync(OUT, { recursive: true, encoding: 'utf8' }).filter((file) =>
  file.endsWith('.js'),
);
for (const script of scripts) rewriteEntryUrls(join(OUT, script));

for (const entry of missing) console.error(entry);
console.log(`${scripts.length} modules built`);
if (missing.length > 0 || scripts.length === 0) process.exitCode = 1;

function rewriteEntryUrls(file: string): void {
  const source = readFileSync(file, 'utf8');
  const rewritten = source.replace(ENTRY_URL, (_match, open: string, entry: string, close: string) => {
    if (!existsSync(resolve(dirname(file), `${entry}.js`)))
      missing.push(`${file}: ${entry}.ts was not built`);
    return `${open}${entry}.js${close}`;
  });
  if (rewritten !== source) writeFileSync(file, rewritten);
}
