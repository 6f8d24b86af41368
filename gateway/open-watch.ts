import { existsSync } from 'node:fs';
import type { GatewayPart } from './http/gateway-part.ts';
import { watchPart, type WatchPartDeps } from './watch/watch-part.ts';

/** Where the built page is: beside the manifest in the package, and where it is built in the repository. */
const PAGES = ['visualiser/', 'apps/visualiser/dist/'];

/** Watching as a part of a gateway. */
export function openWatch(deps: WatchPartDeps): GatewayPart {
  const page = deps.options.page ?? builtPage();
  return watchPart({ ...deps, options: page === undefined ? deps.options : { ...deps.options, page } });
}

function builtPage(): URL | undefined {
  const manifest = import.meta.resolve('orrery/package.json');
  return PAGES.map((path) => new URL(path, manifest)).find((folder) =>
    existsSync(new URL('index.html', folder)),
  );
}
