/**
 * Builds the page into apps/visualiser/dist, or into the folder that is named: `npm run build:page`. What is there needs no server but one for files, and nothing from
 * elsewhere. The machines of the system are drawn now; the page bundles the drawings.
 */
import { appendFileSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { drawingOf, MACHINES } from 'orrery/machines';
import { build } from 'vite';

const ROOT = fileURLToPath(new URL('.', import.meta.url));
const OUT = resolve(ROOT, process.argv[2] ?? 'dist');
const LICENSES = 'licenses.md';
/** What only workers bundle: the page's own list of licences does not name it. */
const IN_WORKERS = ['@dagrejs/dagre', '@dagrejs/graphlib'];

await build({
  root: ROOT,
  configFile: false,
  base: '/visualiser/',
  logLevel: 'warn',
  define: { MACHINE_DRAWINGS: JSON.stringify(MACHINES.map(drawingOf)) },
  worker: { format: 'es' },
  build: {
    outDir: OUT,
    emptyOutDir: true,
    target: 'es2024',
    // The page's rules allow scripts of its own origin only, none within it.
    modulePreload: { polyfill: false },
    assetsInlineLimit: 0,
    license: { fileName: LICENSES },
  },
});

for (const name of IN_WORKERS) {
  const folder = dirname(createRequire(import.meta.url).resolve(`${name}/package.json`));
  const { version, license } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as {
    readonly version: string;
    readonly license: string;
  };
  const text = readFileSync(join(folder, 'LICENSE'), 'utf8');
  appendFileSync(join(OUT, LICENSES), `\n## ${name} - ${version} (${license})\n\n${text}`);
}
