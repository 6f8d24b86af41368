import { type ChildProcess, spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';

export interface ChildProgram {
  readonly module: URL;
  readonly args?: readonly string[];
  /** Node's own flags. @default those of this process */
  readonly execArgv?: readonly string[];
  /** The child and all its threads may use the first core only. */
  readonly onOneCore?: boolean;
}

interface ChildOptions extends Omit<ChildProgram, 'onOneCore'> {
  readonly timeoutMs: number;
}

/** The program and the arguments that start it. */
export function nodeCommand({
  module,
  args = [],
  execArgv = process.execArgv,
  onOneCore = false,
}: ChildProgram): [command: string, args: string[]] {
  const node = [...execArgv, fileURLToPath(module), ...args];
  return onOneCore ? ['taskset', ['-c', '0', process.execPath, ...node]] : [process.execPath, node];
}

const LONGEST_REASON = 300;

/** Runs a Node module as a child process and returns the JSON that stands on the last line of its output. */
export async function runChild({ timeoutMs, ...program }: ChildOptions): Promise<unknown> {
  const [command, args] = nodeCommand(program);
  const child = spawn(command, args, { stdio: ['ignore', 'pipe', 'pipe'] });
  const timer = setTimeout(() => child.kill('SIGKILL'), timeoutMs);
  try {
    const { code, stdout, stderr } = await outputOf(child);
    const { pathname } = program.module;
    if (code === null) throw new Error(`${pathname} was ended after ${timeoutMs} ms`);
    if (code !== 0) throw new Error(`${pathname} exited with ${code}: ${reasonIn(stderr)}`);
    return JSON.parse(stdout.trim().split('\n').at(-1) ?? '');
  } finally {
    clearTimeout(timer);
  }
}

/** The line of an uncaught error, without its stack. */
export function reasonIn(stderr: string): string {
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
