import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import { devNull } from 'node:os';
import { refused } from '../../runtime/protocol/errors.ts';

/** How much of what git says of its failure is told, characters. */
const TOLD = 400;

/** Settings of a repository can name programs. None of these is read from it, and no program but git itself runs. */
const SETTINGS = {
  'core.hooksPath': devNull,
  'core.fsmonitor': 'false',
  'core.quotePath': 'false',
  'log.showSignature': 'false',
  'log.mailmap': 'false',
  // It is the deployment that names the repository, whoever owns its files.
  'safe.directory': '*',
};

/** The environment of git: nobody's settings, no questions, and no way to another machine. */
const environment = (): NodeJS.ProcessEnv => ({
  PATH: process.env['PATH'] ?? '',
  LANG: 'C',
  HOME: devNull,
  XDG_CONFIG_HOME: devNull,
  GIT_CONFIG_NOSYSTEM: '1',
  GIT_CONFIG_GLOBAL: devNull,
  GIT_ATTR_NOSYSTEM: '1',
  GIT_TERMINAL_PROMPT: '0',
  GIT_OPTIONAL_LOCKS: '0',
  // A clone that lacks an object would fetch it, by a program that its settings name.
  GIT_ALLOW_PROTOCOL: 'none',
  GIT_NO_LAZY_FETCH: '1',
});

/** - `input` what git reads. - `signal` ends it. */
export interface GitOptions {
  readonly path: string;
  readonly input?: string | undefined;
  readonly signal: AbortSignal;
}

/**
 * Runs git in a repository, without a shell, and yields what it writes. It is killed when the reader stops, or the signal aborts.
 * Throws REFUSED with what git says when it fails, and the signal's reason.
 */
export async function* git(
  args: readonly string[],
  { path, input, signal }: GitOptions,
): AsyncGenerator<Buffer> {
  signal.throwIfAborted();
  const settings = Object.entries(SETTINGS).flatMap(([name, value]) => ['-c', `${name}=${value}`]);
  const child = spawn(
    'git',
    ['-C', path, '--no-pager', '--no-replace-objects', '--literal-pathspecs', ...settings, ...args],
    { env: environment(), stdio: 'pipe', windowsHide: true },
  );
  const kill = (): void => void child.kill('SIGKILL');
  signal.addEventListener('abort', kill, { once: true });
  const ended = endOf(child);
  try {
    child.stdin.on('error', () => undefined).end(input ?? '');
    for await (const chunk of child.stdout) yield chunk as Buffer;
    const fault = await ended;
    signal.throwIfAborted();
    if (fault !== undefined) throw refused(`git ${args[0]} failed: ${fault}`);
  } finally {
    signal.removeEventListener('abort', kill);
    kill();
  }
}

/** All that git writes, as text. */
export async function gitText(args: readonly string[], options: GitOptions): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of git(args, options)) chunks.push(chunk);
  return Buffer.concat(chunks).toString('utf8');
}

/** What git writes, cut at each NUL. Throws REFUSED for a piece of more than `most` bytes. */
export async function* gitFields(
  args: readonly string[],
  options: GitOptions & { readonly most: number },
): AsyncGenerator<Buffer> {
  let begun: Buffer[] = [];
  let size = 0;
  for await (const chunk of git(args, options)) {
    let from = 0;
    for (let to = chunk.indexOf(0); to !== -1; to = chunk.indexOf(0, from)) {
      yield Buffer.concat([...begun, chunk.subarray(from, to)]);
      begun = [];
      size = 0;
      from = to + 1;
    }
    begun.push(chunk.subarray(from));
    size += chunk.length - from;
    if (size > options.most) throw refused(`git ${args[0]} wrote a field of more than ${options.most} bytes`);
  }
  if (size > 0) yield Buffer.concat(begun);
}

/** A sentence about why it failed; undefined when it has not. */
function endOf(child: ChildProcessWithoutNullStreams): Promise<string | undefined> {
  return new Promise((resolve) => {
    let said = '';
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      said = (said + text).slice(0, TOLD);
    });
    child.once('error', (error) => resolve(`it cannot be started: ${error.message}`));
    child.once('close', (code, killer) => {
      const how = killer === null ? `it ended with code ${code}` : `it was ended by ${killer}`;
      resolve(code === 0 ? undefined : said.trim() || how);
    });
  });
}
