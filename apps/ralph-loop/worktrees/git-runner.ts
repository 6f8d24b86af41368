import { type ChildProcess, spawn } from 'node:child_process';
import { devNull } from 'node:os';
import { refused } from 'orrery';
import { GIT_OF, ownMark } from './leftover-processes.ts';

/** How much of what git says of its failure is told, characters: its last words say why. */
const TOLD = 600;
/** What a command may write, unless it says otherwise, bytes. */
const MAX_BYTES = 64 * 1024 * 1024;

/** The user's settings hold, but for these: no other program watches or joins in, and what is read is what is there. */
const SETTINGS = {
  'core.hooksPath': devNull,
  // Empty is off in every version; before 2.36 `false` was the name of a program.
  'core.fsmonitor': '',
  'core.quotePath': 'false',
  'core.safecrlf': 'false',
  'core.ignoreStat': 'false',
  'core.splitIndex': 'false',
  'core.untrackedCache': 'false',
  'add.ignoreErrors': 'false',
  'submodule.recurse': 'false',
  'rerere.enabled': 'false',
  'log.showSignature': 'false',
  'i18n.commitEncoding': 'UTF-8',
  'i18n.logOutputEncoding': 'UTF-8',
  'gc.auto': '0',
  'maintenance.auto': 'false',
  'worktree.useRelativePaths': 'false',
};
const SET = Object.entries(SETTINGS).flatMap(([name, value]) => ['-c', `${name}=${value}`]);

/** Of git's own variables only these are the user's settings. Others, as `GIT_DIR` in a hook, lead to another repository. */
const KEPT =
  /^GIT_(CONFIG_(GLOBAL|SYSTEM|NOSYSTEM)|(AUTHOR|COMMITTER)_(NAME|EMAIL)|EXEC_PATH|SSH.*|SSL_.*|LFS_.*)$/;

/**
 * - `path`     absolute path of the folder that git works in.
 * - `input`    what git reads.
 * - `env`      variables beside the user's.
 * - `codes`    exit codes that are no failure. @default 0
 * - `maxBytes` that it may write. @default 67_108_864
 * - `mayCut`   what is over `maxBytes` is left away; otherwise it is a failure.
 * - `signal`   ends it, and the programs that it started.
 */
export interface GitOptions {
  readonly path: string;
  readonly input?: string | Uint8Array | undefined;
  readonly env?: Readonly<Record<string, string>> | undefined;
  readonly codes?: readonly number[] | undefined;
  readonly maxBytes?: number | undefined;
  readonly mayCut?: boolean | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** What git wrote, and the code that it ended with. */
export interface GitOutput {
  readonly code: number;
  readonly bytes: Buffer;
  readonly isCut: boolean;
}

/** Runs git without a shell. Throws REFUSED with what git says when it fails, and the signal's reason. */
export type RunGit = (args: readonly string[], options: GitOptions) => Promise<GitOutput>;

/** Runs the git of the `PATH`, with the user's own settings, without hooks and without questions. */
export const runGit: RunGit = async (args, options) => {
  const { path, input, env, codes = [0], maxBytes = MAX_BYTES, mayCut = false, signal } = options;
  signal?.throwIfAborted();
  // At the head of a group of its own: a filter that it waits for ends with it.
  const child = spawn('git', ['-C', path, '--no-pager', '--no-replace-objects', ...SET, ...args], {
    env: { ...environment(), ...env },
    stdio: [input === undefined ? 'ignore' : 'pipe', 'pipe', 'pipe'],
    windowsHide: true,
    detached: true,
  });
  // With this signal git takes its lock files away; with SIGKILL they would stay.
  const end = (): void => endGroup(child);
  signal?.addEventListener('abort', end, { once: true });
  const kept: Buffer[] = [];
  let size = 0;
  child.stdout?.on('data', (chunk: Buffer) => {
    if (size < maxBytes) kept.push(chunk.subarray(0, maxBytes - size));
    size += chunk.length;
    if (size > maxBytes) end();
  });
  child.stdin?.on('error', () => undefined).end(input);
  try {
    const { code, said } = await endOf(child);
    signal?.throwIfAborted();
    const isCut = size > maxBytes;
    if (isCut && !mayCut) throw refused(`git ${args[0]} wrote more than ${maxBytes} bytes`);
    if (!isCut && !codes.includes(code)) throw refused(`git ${args[0]} failed: ${said}`);
    return { code: isCut ? 0 : code, bytes: Buffer.concat(kept), isCut };
  } finally {
    signal?.removeEventListener('abort', end);
  }
};

/** The fields of what git wrote with `-z`. A name that is no UTF-8 is shown with replacement characters. */
export function fieldsOf(bytes: Buffer, encoding: 'utf8' | 'latin1' = 'utf8'): string[] {
  const fields = bytes.toString(encoding).split('\0');
  if (fields.at(-1) === '') fields.pop();
  return fields;
}

function environment(): NodeJS.ProcessEnv {
  const kept = Object.entries(process.env).filter(([name]) => !name.startsWith('GIT_') || KEPT.test(name));
  return {
    ...Object.fromEntries(kept),
    LANG: 'C',
    LC_ALL: 'C',
    GIT_TERMINAL_PROMPT: '0',
    GIT_ASKPASS: '',
    GIT_OPTIONAL_LOCKS: '0',
    [GIT_OF]: ownMark(),
  };
}

function endGroup(child: ChildProcess): void {
  if (child.pid === undefined || child.exitCode !== null || child.signalCode !== null) return;
  try {
    process.kill(-child.pid, 'SIGTERM');
  } catch {
    child.kill('SIGTERM');
  }
}

function endOf(child: ChildProcess): Promise<{ code: number; said: string }> {
  return new Promise((resolve) => {
    let said = '';
    child.stderr?.setEncoding('utf8').on('data', (text: string) => {
      said = (said + text).slice(-TOLD);
    });
    child.once('error', (error) => resolve({ code: -1, said: `it cannot be started: ${error.message}` }));
    child.once('close', (code, killer) => {
      const how = killer === null ? `it ended with code ${code}` : `it was ended by ${killer}`;
      resolve({ code: code ?? -1, said: said.trim() || how });
    });
  });
}
