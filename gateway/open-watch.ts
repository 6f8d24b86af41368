import { existsSync, readFileSync } from 'node:fs';
import type { GatewayPart } from './http/gateway-part.ts';
import { watchPart, type WatchPartDeps } from './watch/watch-part.ts';

/** Where the built page is: beside the manifest in the package, and where it is built in the repository. */
const PAGES = ['visualiser/', 'dist/visualiser/', 'apps/visualiser/dist/'];

/** Names of what is watched; the version is the package's. */
type WatchDeps = Omit<WatchPartDeps, 'about'> & { readonly about: Omit<WatchPartDeps['about'], 'orrery'> };

/** Watching as a part of a gateway. */
export function openWatch({ about, options, ...deps }: WatchDeps): GatewayPart {
  const manifest = new URL(import.meta.resolve('orrery/package.json'));
  const { version } = JSON.parse(readFileSync(manifest, 'utf8')) as { readonly version: string };
  const page = options.page ?? builtPage(manifest);
  return watchPart({
    ...deps,
    about: { ...about, orrery: version },
    options: page === undefined ? options : { ...options, page },
  });
}

const builtPage = (manifest: URL): URL | undefined =>
  PAGES.map((path) => new URL(path, manifest)).find((folder) => existsSync(new URL('index.html', folder)));
