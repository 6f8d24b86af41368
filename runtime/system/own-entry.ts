import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { OrreryError } from '../protocol/errors.ts';

const ADVICE =
  "Leave 'orrery' out of the bundle: --external:orrery for esbuild, external: [/^orrery/] for rollup and rolldown, " +
  "ssr: { external: ['orrery'] } for vite";

/**
 * The file that threads start from, which the package brings. `locate` finds it beside the code that runs; where that code
 * was bundled with a program it is not there. Throws MODULE_INVALID, saying what to tell the bundler.
 */
export function ownEntry(locate: () => URL): URL {
  const entry = located(locate);
  if (entry !== undefined && (entry.protocol !== 'file:' || existsSync(entry))) return entry;
  const missing =
    entry === undefined ? 'where that lies is not known here' : `${fileURLToPath(entry)} is not there`;
  throw new OrreryError(
    'MODULE_INVALID',
    `Orrery was bundled with another program. Its threads start from a file of the package, and ${missing}. ${ADVICE}`,
    { details: { module: entry?.href ?? 'orrery/worker', reason: missing } },
  );
}

/** In a bundle that is no ECMAScript module there is no `import.meta.url`: undefined. */
function located(locate: () => URL): URL | undefined {
  try {
    return locate();
  } catch {
    return undefined;
  }
}
