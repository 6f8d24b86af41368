import { existsSync } from 'node:fs';
import { mayStartOthers, mayUseSqlite, type ProcessOptions } from '../agent/process-options.ts';

/** The options of Node for a process with these permissions, which may read `code` as well. */
export function nodeArguments(
  options: ProcessOptions,
  code: readonly string[],
  ownArguments: readonly string[] = process.execArgv,
): string[] {
  const { permissions, memoryMb, within } = options;
  const { read, write, net, childProcess, addons, wasi, ffi } = permissions;
  const ownTmp = within === 'bubblewrap' ? ['/tmp'] : [];
  const granted = { net, 'child-process': childProcess, addons, wasi, ffi };
  const known = process.allowedNodeEnvironmentFlags;
  return [
    '--permission',
    // For the thread that watches the host; the process gives it up before it loads anybody's code.
    '--allow-worker',
    '--disable-warning=SecurityWarning',
    ...[...code, ...read, ...ownTmp].flatMap((path) => grant('--allow-fs-read', path)),
    ...[...write, ...ownTmp].flatMap((path) => grant('--allow-fs-write', path)),
    ...(watchesFamily(options) && !mayReadProc(options) ? [`--allow-fs-read=${PROC}`] : []),
    ...Object.entries(granted)
      .filter(([name, isGranted]) => isGranted && known.has(`--allow-${name}`))
      .map(([name]) => `--allow-${name}`),
    // Refused as a whole: what it opens and attaches is not looked at. The process finds out whether this Node obeys.
    ...(mayUseSqlite(permissions) || !known.has('--experimental-sqlite') ? [] : ['--no-experimental-sqlite']),
    `--max-old-space-size=${memoryMb}`,
    ...conditionsOf(ownArguments),
  ];
}

/** What of its abilities the agent's code may keep, as `process.ts` names it. */
export const remainingAbilities = (options: ProcessOptions): string[] => [
  ...(options.permissions.worker ? ['worker'] : []),
  ...(options.permissions.childProcess ? ['child'] : []),
  ...(mayUseSqlite(options.permissions) ? ['sqlite'] : []),
  ...(mayReadProc(options) ? ['proc'] : []),
  ...(watchesFamily(options) ? ['family'] : []),
];

const PROC = '/proc';

/** The thread that watches the host finds in `/proc` what its process has started; in a namespace that ends by itself. */
const watchesFamily = (options: ProcessOptions): boolean =>
  options.within === undefined && mayStartOthers(options);

const mayReadProc = ({ permissions }: ProcessOptions): boolean =>
  permissions.read.some((path) => path === '/' || path === PROC || path.startsWith(`${PROC}/`));

/** A path that is not there yet may become either: a file or a folder. */
const grant = (option: string, path: string): string[] =>
  existsSync(path) ? [`${option}=${path}`] : [`${option}=${path}`, `${option}=${path}/*`];

/** The conditions under which this process resolves packages: the other one resolves them alike. */
function conditionsOf(args: readonly string[]): string[] {
  const conditions: string[] = [];
  for (const [at, arg] of args.entries()) {
    const next = args[at + 1];
    if ((arg === '--conditions' || arg === '-C') && next !== undefined) conditions.push(next);
    else if (arg.startsWith('--conditions=')) conditions.push(arg.slice('--conditions='.length));
  }
  return conditions.map((condition) => `--conditions=${condition}`);
}
