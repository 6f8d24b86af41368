import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { readNamedFile, readPort } from '../option-values.ts';
import type { TypedOptions } from '../run-plan.ts';
import { UsageError } from '../usage-error.ts';
import type { WatchTarget } from './watch-link.ts';

const TOKEN_FILE = /^(\d{1,5})\.token$/;

/** How long a team may take to say that it is there, milliseconds. */
const PROBE_MS = 2_000;

const urlOf = (port: number): string => `http://127.0.0.1:${port}`;

/**
 * Where the team is that the options mean; asked again, it reads the token anew. Throws UsageError if there is none, or several.
 */
export async function watchTarget(
  options: TypedOptions,
  { folder, isServed }: { readonly folder: string; readonly isServed: (url: string) => Promise<boolean> },
): Promise<() => WatchTarget> {
  const { url, port } = options;
  const tokenFile = options['token-file'];
  if (url !== undefined && port !== undefined)
    throw new UsageError('Options "--url" and "--port" exclude each other');
  if (tokenFile !== undefined && url === undefined)
    throw new UsageError('Option "--token-file" is given without "--url"');
  if (url !== undefined) {
    const base = readUrl(String(url));
    const token = (): string | undefined =>
      tokenFile === undefined ? undefined : readNamedFile('--token-file', String(tokenFile)).trim();
    token();
    return () => ({ url: base, token: token() });
  }
  const asked = readPort('--port', port);
  const found = asked ?? (await onlyPort(folder, isServed));
  return () => ({ url: urlOf(found), token: tokenIn(folder, found) });
}

function readUrl(text: string): string {
  const url = URL.parse(text);
  if (url === null || !/^https?:$/.test(url.protocol))
    throw new UsageError(`Option "--url" is "${text}", expected a URL such as http://127.0.0.1:4710`);
  return `${url.origin}${url.pathname}`.replace(/\/+$/, '');
}

/** The port of the only team of this user that is served here: files that a killed process left do not count. */
async function onlyPort(folder: string, isServed: (url: string) => Promise<boolean>): Promise<number> {
  const ports = portsIn(folder);
  const served = await Promise.all(ports.map((port) => isServed(urlOf(port))));
  const alive = ports.filter((_, at) => served[at] === true);
  const [first, ...others] = alive;
  if (first === undefined)
    throw new UsageError(
      "No team of this user is served here: 'orrery up' serves one, and so does 'orrery run --watch'",
    );
  if (others.length === 0) return first;
  throw new UsageError(`Option "--port" is missing: several teams are served here, on ${alive.join(', ')}`);
}

function portsIn(folder: string): readonly number[] {
  try {
    return readdirSync(folder)
      .flatMap((name) => TOKEN_FILE.exec(name)?.[1] ?? [])
      .map(Number)
      .sort((one, other) => one - other);
  } catch {
    return [];
  }
}

function tokenIn(folder: string, port: number): string | undefined {
  try {
    return readFileSync(join(folder, `${port}.token`), 'utf8').trim();
  } catch {
    return undefined;
  }
}

/** Whether anybody answers there. */
export async function isServed(url: string): Promise<boolean> {
  try {
    const response = await fetch(`${url}/healthz`, { signal: AbortSignal.timeout(PROBE_MS) });
    await response.body?.cancel();
    return true;
  } catch {
    return false;
  }
}
