/**
 * Builds the page into apps/visualiser/dist, or into the folder that is named: `npm run build:page`. What is there needs no server but one for files, and nothing from
 * elsewhere. The machines of the system are drawn now; the page bundles the drawings.
 */
import { fileURLToPath } from 'node:url';
import { drawingOf, MACHINES } from 'orrery/machines';
import { build } from 'vite';

const ROOT = fileURLToPath(new URL('.', import.meta.url));

await build({
  root: ROOT,
  configFile: false,
  base: '/visualiser/',
  logLevel: 'warn',
  define: { MACHINE_DRAWINGS: JSON.stringify(MACHINES.map(drawingOf)) },
  worker: { format: 'es' },
  build: {
    outDir: process.argv[2] ?? 'dist',
    emptyOutDir: true,
    target: 'es2024',
    // The page's rules allow scripts of its own origin only, none within it.
    modulePreload: { polyfill: false },
    assetsInlineLimit: 0,
    license: { fileName: 'licenses.md' },
  },
});
