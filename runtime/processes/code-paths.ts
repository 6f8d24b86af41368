import { existsSync, realpathSync } from 'node:fs';
import { dirname, join, parse } from 'node:path';
import { fileURLToPath } from 'node:url';

/** What of the repository an agent can import as Orrery: rooms and entries. In the package all that is there is. */
const SOURCES = [
  ...['runtime', 'policies', 'transports', 'gateway', 'actors'],
  ...['index.ts', 'worker.ts', 'process.ts', 'start-team.ts'],
  ...[
    'agentmesh.ts',
    'gateway.ts',
    'hyperswarm.ts',
    'lango.ts',
    'machines.ts',
    'mcp.ts',
    'remote.ts',
    'simulate.ts',
    'xpr.ts',
  ],
];

/**
 * The paths that the code of an agent has to be read from: the folder of its module with all that is in it, every
 * `node_modules` above it, and Orrery with its own. `package.json` files on the way say what kind of module a file is.
 *
 * It does not depend on what the module says: one that could name what it imports could name anything.
 */
export function codePaths(module: string, entry: URL): string[] {
  const file = fileURLToPath(module);
  const files = existsSync(file) ? [file, realpathSync(file)] : [file];
  const home = dirname(fileURLToPath(entry));
  const own = entry.pathname.endsWith('.ts') ? SOURCES.map((name) => join(home, name)) : [home];
  const paths = [
    ...files.map((each) => dirname(each)),
    ...[...files, fileURLToPath(entry)].flatMap(foundAbove),
    ...own.filter((path) => existsSync(path)),
  ];
  return [...new Set(paths)].sort();
}

/** Where Node looks for packages, and for the kind of a module, from a file up to the root. */
function foundAbove(file: string): string[] {
  const found: string[] = [];
  const { root } = parse(file);
  for (let folder = dirname(file); ; folder = dirname(folder)) {
    for (const name of ['package.json', 'node_modules']) {
      const path = join(folder, name);
      if (existsSync(path)) found.push(path, realpathSync(path));
    }
    if (folder === root) return found;
  }
}
