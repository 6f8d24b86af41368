import { type Context, createContext, Script } from 'node:vm';
import { reasonOf } from '../../runtime/protocol/errors.ts';

interface Sandbox {
  run: (() => void) | undefined;
}

/**
 * Runs code that may not end, such as a regular expression somebody else has written, and ends it after `timeoutMs`: it throws
 * then, as it does when the code throws. It costs half a millisecond. What was cut off may have left its objects half changed.
 */
export function runWithin<Result>(timeoutMs: number, run: () => Result): Result {
  made ??= make();
  const { sandbox, context, script } = made;
  const results: Result[] = [];
  sandbox.run = () => {
    results.push(run());
  };
  try {
    script.runInContext(context, { timeout: timeoutMs });
  } catch (error) {
    // What a context of its own throws is no `Error` of ours.
    throw error instanceof Error
      ? error
      : new Error(reasonOf((error as { message?: unknown } | undefined)?.message));
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
