import { existsSync } from 'node:fs';

/** The folder of the package. */
export const ROOT = new URL('../', import.meta.url);

/** What `import 'orrery'` leads to, and Node's flags for it. */
export interface Build {
  readonly label: 'from source' | 'built';
  readonly execArgv: readonly string[];
}

/** The TypeScript sources and, when there is one, the compiled package, which is what users run. */
export function buildsOfOrrery(): readonly Build[] {
  const source: Build = { label: 'from source', execArgv: ['--conditions=orrery-source'] };
  const isBuilt = existsSync(new URL('dist/index.js', ROOT));
  return isBuilt ? [source, { label: 'built', execArgv: [] }] : [source];
}
