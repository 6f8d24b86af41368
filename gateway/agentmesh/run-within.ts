import { type Context, createContext, Script } from 'node:vm';
import { reasonOf } from '../../runtime/protocol/errors.ts';

interface Sandbox {
  run: (() => void) | undefined;
}

/** Milliseconds that this thread has computed. */
const threadCpuMs = (): number => {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1_000;
};

const MAX_ATTEMPTS = 20;

/**
 * Runs code that may not end, such as a regular expression somebody else has written, and ends it after `timeoutMs`: it throws
 * then, as it does when the code throws. It costs half a millisecond. What was cut off may have left its objects half changed.
 *
 * A thread that did not get the machine for half of that time begins again: the code need not be slow. So `run` may be called
 * several times.
 */
export function runWithin<Result>(timeoutMs: number, run: () => Result, cpuMs = threadCpuMs): Result {
  for (let attempt = 1; ; attempt++) {
    const before = cpuMs();
    try {
      return attemptOf(timeoutMs, run);
    } catch (error) {
      const isCut = (error as NodeJS.ErrnoException | undefined)?.code === 'ERR_SCRIPT_EXECUTION_TIMEOUT';
      if (isCut && cpuMs() - before < timeoutMs / 2 && attempt < MAX_ATTEMPTS) continue;
      // What a context of its own throws is no `Error` of ours.
      throw error instanceof Error ? error : new Error(reasonOf((error as Error | undefined)?.message));
    }
  }
}

function attemptOf<Result>(timeoutMs: number, run: () => Result): Result {
  made ??= make();
  const { sandbox, context, script } = made;
  const results: Result[] = [];
  sandbox.run = () => {
    results.push(run());
  };
  try {
    script.runInContext(context, { timeout: timeoutMs });
  } finally {
    sandbox.run = undefined;
  }
  return results[0] as Result;
}

let made: { readonly sandbox: Sandbox; readonly context: Context; readonly script: Script } | undefined;

function make(): NonNullable<typeof made> {
  const sandbox: Sandbox = { run: undefined };
  return { sandbox, context: createContext(sandbox), script: new Script('run()') };
}
