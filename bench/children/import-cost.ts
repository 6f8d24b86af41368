import { statSync } from 'node:fs';
import { registerHooks } from 'node:module';
import { fileURLToPath } from 'node:url';

/** `bytes` is the size of every loaded file; `ownModules` lie outside `node_modules`. */
export interface ImportCost {
  readonly importMs: number;
  readonly modules: number;
  readonly ownModules: number;
  readonly bytes: number;
}

const loaded = new Set<string>();
/** Hooks slow loading down, so counting and timing are different runs. */
if (process.argv[2] === 'count') {
  registerHooks({
    load: (url, context, nextLoad) => {
      if (url.startsWith('file:')) loaded.add(fileURLToPath(url));
      return nextLoad(url, context);
    },
  });
}

const startMs = performance.now();
await import('orrery');
const importMs = performance.now() - startMs;

const files = [...loaded];
const cost: ImportCost = {
  importMs,
  modules: files.length,
  ownModules: files.filter((file) => !file.includes('/node_modules/')).length,
  bytes: files.reduce((sum, file) => sum + statSync(file).size, 0),
};
console.log(JSON.stringify(cost));
