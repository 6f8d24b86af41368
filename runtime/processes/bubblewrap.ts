import { execFile } from 'node:child_process';
import { existsSync, lstatSync, readlinkSync } from 'node:fs';
import { delimiter, dirname, isAbsolute, join, sep } from 'node:path';
import { invalidOptions, reasonOf } from '../protocol/errors.ts';
import type { ProcessOptions } from '../agent/process-options.ts';

/** Of Debian's package `bubblewrap`, 0.8 or newer. */
const COMMAND = 'bwrap';

/** Where it is; its bare name when it is nowhere. What it runs is given no `PATH` by which it could be found. */
const whereItIs = (): string =>
  (process.env['PATH'] ?? '')
    .split(delimiter)
    .filter((folder) => isAbsolute(folder))
    .map((folder) => join(folder, COMMAND))
    .find((path) => existsSync(path)) ?? COMMAND;

/** What a dynamically linked Node is loaded from. */
const LIBRARIES = ['/usr/lib', '/usr/lib32', '/usr/lib64', '/etc/ld.so.cache'];
/** What programs are, that an agent may start. */
const PROGRAMS = ['/usr', '/etc/alternatives', '/etc/ssl/certs', '/etc/ssl/openssl.cnf'];
/** What names and certificates are looked up in. */
const OF_NET = [
  'hosts',
  'host.conf',
  'nsswitch.conf',
  'resolv.conf',
  'gai.conf',
  'services',
  'ssl/certs',
  'ssl/openssl.cnf',
].map((name) => `/etc/${name}`);
const CERTIFICATES = '/usr/share/ca-certificates';
/** Links into `/usr` on a system of today, folders on an older one. */
const OF_ROOT = ['/bin', '/sbin', '/lib', '/lib32', '/lib64'];

const MIB = 1_048_576;
const PROBE_MS = 20_000;

/**
 * How `bwrap` is called to run a Node with what the permissions say and no more: other files are not there, nor is the
 * network, nor any other process. `code` is what it reads its own code from.
 */
export function bubblewrapCommand(
  { permissions, residentMb }: ProcessOptions,
  code: readonly string[],
  node: string = process.execPath,
): { command: string; args: string[] } {
  const { read, write, net, childProcess } = permissions;
  const readable = [
    node,
    ...LIBRARIES,
    ...(childProcess ? PROGRAMS : []),
    ...(net ? [...OF_NET, CERTIFICATES] : []),
    ...code,
    ...read,
  ];
  return {
    command: whereItIs(),
    args: [
      ...['--unshare-all', '--unshare-user', '--disable-userns', '--cap-drop', 'ALL'],
      ...(net ? ['--share-net'] : []),
      ...['--die-with-parent', '--hostname', 'orrery'],
      ...mounts(readable, write, residentMb * MIB),
      ...['--remount-ro', '/', '--chdir', '/', '--'],
    ],
  };
}

/** Folders before what lies in them, so that one does not hide the other; the root, if it is granted, before all. */
function mounts(read: readonly string[], write: readonly string[], tmpBytes: number): string[] {
  const all = [...new Set([...read, ...write])].map(withoutSlash).sort();
  const isWritable = (path: string): boolean =>
    write.map(withoutSlash).some((granted) => isWithin(path, granted));
  const root = all.includes('/');
  const bind = (path: string): string[] => [isWritable(path) ? '--bind-try' : '--ro-bind-try', path, path];
  return [
    ...(root ? bind('/') : OF_ROOT.flatMap(asInRoot)),
    ...['--proc', '/proc', '--dev', '/dev'],
    ...['--size', String(tmpBytes), '--tmpfs', '/tmp'],
    ...all.filter((path) => path !== '/' && (!root || isWithin(path, '/tmp'))).flatMap(bind),
  ];
}

/** `/lib` is a link to `usr/lib` where the system has it so. */
function asInRoot(path: string): string[] {
  if (!existsSync(path)) return [];
  return lstatSync(path).isSymbolicLink()
    ? ['--symlink', readlinkSync(path), path]
    : ['--ro-bind', path, path];
}

const withoutSlash = (path: string): string =>
  path.length > 1 && path.endsWith(sep) ? path.slice(0, -1) : path;

function isWithin(path: string, folder: string): boolean {
  for (let at = path; ; at = dirname(at)) {
    if (at === folder) return true;
    if (dirname(at) === at) return false;
  }
}

/**
 * Rejects with INVALID_OPTIONS when this machine cannot run a process so: `bwrap` is missing, or may make no namespaces, or
 * what is to be written to is not there.
 */
export async function requireBubblewrap(options: ProcessOptions): Promise<void> {
  const missing = options.permissions.write.find((path) => !existsSync(path));
  if (missing !== undefined)
    throw invalidOptions('permissions.write', missing, "a path that is there, with process: 'bubblewrap'");
  const { command, args } = bubblewrapCommand(options, []);
  const failure = isAbsolute(command)
    ? await failureOf(command, [...args, process.execPath, '--version'])
    : 'there is no bwrap (Debian: apt-get install bubblewrap)';
  if (failure !== undefined)
    throw invalidOptions(
      'isolation',
      { process: 'bubblewrap' },
      `what this machine can do: ${failure}; isolation: 'process' is a weaker wall that needs no namespaces`,
    );
}

/** Why a process cannot be run so; undefined when it can. */
const failureOf = (command: string, args: readonly string[]): Promise<string | undefined> =>
  new Promise((resolve) => {
    execFile(command, args, { env: {}, timeout: PROBE_MS }, (error, _out, said) =>
      resolve(error === null ? undefined : said.trim() || reasonOf(error)),
    );
  });
