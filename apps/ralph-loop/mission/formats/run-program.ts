import { execFile } from 'node:child_process';

/** What became of a program. `exitCode` is undefined if it is not installed. */
export interface ProgramEnd {
  readonly exitCode: number | undefined;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs a program to its end in a folder. */
export type RunProgram = (program: string, args: readonly string[], folder: string) => Promise<ProgramEnd>;

const MAX_OUTPUT = 16 * 1024 * 1024;
const TIMEOUT_MS = 60_000;

/** Runs a program without a shell; it gets a minute, and 16 MiB of output. */
export const runProgram: RunProgram = (program, args, folder) => {
  const { promise, resolve } = Promise.withResolvers<ProgramEnd>();
  const options = { cwd: folder, maxBuffer: MAX_OUTPUT, timeout: TIMEOUT_MS } as const;
  const child = execFile(program, [...args], options, (error, stdout, stderr) => {
    if (error === null) return resolve({ exitCode: 0, stdout, stderr });
    const { code } = error as { readonly code?: unknown };
    if (code === 'ENOENT') return resolve({ exitCode: undefined, stdout, stderr });
    const exitCode = typeof code === 'number' ? code : 1;
    return resolve({ exitCode, stdout, stderr: stderr === '' ? error.message : stderr });
  });
  // It is asked nothing: a question would wait for ever.
  child.stdin?.end();
  return promise;
};
