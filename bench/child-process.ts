import { type ChildProcess, spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { Unavailable } from './measurement.ts';

export interface ChildOptions {
  readonly module: URL;
  readonly args?: readonly string[];
  readonly timeoutMs: number;
  /** Node's own flags. @default those of this process */
  readonly execArgv?: readonly string[];
  /** The child and all its threads may use the first core only. */
  readonly onOneCore?: boolean;
}

const LONGEST_REASON = 300;

/** Runs a Node module as a child process and returns the JSON that stands on the last line of its output. */
export async function runChild(options: ChildOptions): Promise<unknown> {
  const { module, args = [], timeoutMs, execArgv = process.execArgv, onOneCore = false } = options;
  const node = [process.execPath, ...execArgv, fileURLToPath(module), ...args];
  const [command = '', ...rest] = onOneCore ? ['taskset', '-c', '0', ...node] : node;
  const child = spawn(command, rest, { stdio: ['ignore', 'pipe', 'pipe'] });
  const timer = setTimeout(() => child.kill('SIGKILL'), timeoutMs);
  try {
    const { code, stdout, stderr } = await outputOf(child);
    if (code === null) throw new Error(`${module.pathname} was ended after ${timeoutMs} ms`);
    if (code !== 0) throw new Error(`${module.pathname} exited with ${code}: ${reasonIn(stderr)}`);
    return JSON.parse(stdout.trim().split('\n').at(-1) ?? '');
  } catch (error) {
    if (onOneCore && (error as NodeJS.ErrnoException).code === 'ENOENT')
      throw new Unavailable('no taskset here');
    throw error;
  } finally {
    clearTimeout(timer);
  }
}

/** The line of an uncaught error, without its stack. */
function reasonIn(stderr: string): string {
  const lines = stderr.trim().split('\n');
  return (lines.find((line) => /^\w*Error\b/.test(line)) ?? lines.at(-1) ?? '').slice(0, LONGEST_REASON);
}

interface Output {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

function outputOf(child: ChildProcess): Promise<Output> {
  let stdout = '';
  let stderr = '';
  child.stdout?.on('data', (chunk: Buffer) => {
    stdout += chunk.toString();
  });
  child.stderr?.on('data', (chunk: Buffer) => {
    stderr += chunk.toString();
  });
  return new Promise((resolve, reject) => {
    child.on('error', reject);
    child.on('close', (code) => resolve({ code, stdout, stderr }));
  });
}
