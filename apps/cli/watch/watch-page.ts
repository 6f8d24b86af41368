import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { existsSync, readdirSync, renameSync, rmSync, statSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import type { WatchOptions } from 'orrery/gateway';
import { readList, readNamedFile } from '../option-values.ts';
import { UsageError } from '../usage-error.ts';
import type { TypedOptions } from '../run-plan.ts';

const TOKEN_BYTES = 32;
/** The page of the repository, from its sources; the package has it built. */
const SOURCES = new URL('../../visualiser/', import.meta.url);

/** How a team is watched as the options say: with `--unlock` whoever has a token of its own may also act. */
export function watchOptions({ unlock }: TypedOptions): WatchOptions {
  return unlock === true ? { unlockToken: randomBytes(TOKEN_BYTES).toString('base64url') } : {};
}

/** Other nodes that are shown beside this one: `URL=FILE`, the file with the token for that URL. Throws UsageError. */
export function watchedNodes(typed: string | true | undefined): NonNullable<WatchOptions['nodes']> {
  return readList('--watch-node', typed).map((entry) => {
    const at = entry.indexOf('=');
    const url = URL.parse(entry.slice(0, Math.max(0, at)));
    if (url === null || !/^https?:$/.test(url.protocol))
      throw new UsageError(`Option "--watch-node" is "${entry}", expected URL=FILE, the file with its token`);
    const token = readNamedFile('--watch-node', entry.slice(at + 1)).trim();
    return { url: url.href.replace(/\/+$/, ''), token };
  });
}

/** The lines that say where the page is. The token stands behind `#`, which no browser sends or logs. */
export function watchLines(
  url: string,
  { token, unlockToken }: { token?: string | undefined; unlockToken?: string | undefined },
): string[] {
  const fragment = token === undefined ? '' : `#token=${token}`;
  return [
    `Watch it: ${url}/${fragment}`,
    ...(unlockToken === undefined ? [] : [`  To act there: ${unlockToken}`]),
  ];
}

/**
 * The folder of the page, built where there are only its sources: in a clone of the repository, unless something newer than these
 * is built there. Undefined in the package, which has it.
 */
export async function builtPage(): Promise<URL | undefined> {
  if (!existsSync(new URL('build-page.ts', SOURCES))) return undefined;
  const own = new URL('dist/', SOURCES);
  const changedMs = newestIn(SOURCES);
  const known = [new URL('../../dist/visualiser/', SOURCES), own].find((page) => builtMs(page) > changedMs);
  if (known !== undefined) return known;
  await build(own);
  return own;
}

/** When the newest source was written. */
const newestIn = (folder: URL): number =>
  Math.max(
    ...['page/', 'worker/', 'model/'].flatMap((part) =>
      readdirSync(new URL(part, folder)).map((file) => statSync(new URL(part + file, folder)).mtimeMs),
    ),
  );

const builtMs = (page: URL): number =>
  statSync(new URL('index.html', page), { throwIfNoEntry: false })?.mtimeMs ?? 0;

/** Builds it aside, so that nobody who serves it meanwhile sees half of it. */
async function build(page: URL): Promise<void> {
  const aside = new URL(`../dist.${process.pid}/`, page);
  try {
    const words = ['--conditions=orrery-source', fileURLToPath(new URL('build-page.ts', SOURCES))];
    await promisify(execFile)(process.execPath, [...words, fileURLToPath(aside)]);
    rmSync(page, { recursive: true, force: true });
    renameSync(aside, page);
  } catch (error) {
    // Somebody else has built it at the same time.
    if (existsSync(new URL('index.html', page))) return;
    const { stderr = String(error) } = error as { readonly stderr?: string };
    throw new Error(`The visualiser cannot be built: ${stderr}`, { cause: error });
  } finally {
    rmSync(aside, { recursive: true, force: true });
  }
}
