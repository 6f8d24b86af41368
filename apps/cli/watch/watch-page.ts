import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
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

/** Builds the page where there are its sources: in a clone of the repository, which has nothing that is built. */
export async function buildPage(): Promise<void> {
  const build = fileURLToPath(new URL('build-page.ts', SOURCES));
  if (!existsSync(build)) return;
  try {
    await promisify(execFile)(process.execPath, ['--conditions=orrery-source', build]);
  } catch (error) {
    const { stderr } = error as { readonly stderr?: string };
    throw new Error(`The visualiser cannot be built: ${stderr ?? String(error)}`, { cause: error });
  }
}
