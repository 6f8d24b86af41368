import { existsSync } from 'node:fs';
import type { ProcessOptions } from './process-options.ts';

/** The options of Node for a process with these permissions, which may read `code` as well. */
export function nodeArguments(
  { permissions, memoryMb }: ProcessOptions,
  code: readonly string[],
  ownArguments: readonly string[] = process.execArgv,
): string[] {
  const { read, write, net, childProcess, addons, wasi, ffi } = permissions;
  const granted = { net, 'child-process': childProcess, addons, wasi, ffi };
  const known = process.allowedNodeEnvironmentFlags;
  return [
    '--permission',
    // For the thread that watches the host; the process gives it up before it loads anybody's code.
    '--allow-worker',
    '--disable-warning=SecurityWarning',
    ...[...code, ...read].flatMap((path) => grant('--allow-fs-read', path)),
    ...write.flatMap((path) => grant('--allow-fs-write', path)),
    ...Object.entries(granted)
      .filter(([name, isGranted]) => isGranted && known.has(`--allow-${name}`))
      .map(([name]) => `--allow-${name}`),
    `--max-old-space-size=${memoryMb}`,
    ...conditionsOf(ownArguments),
  ];
}

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
