import { z } from 'zod';
import { moduleInvalid } from '../runtime/protocol/errors.ts';
import type { JudgePolicy } from '../runtime/protocol/policy.ts';

/**
 * A user's own rule: functions do not cross threads, so every thread loads it.
 *
 * - `module`  URL or package name of a module that exports `policy`, a function of the options that gives a `JudgePolicy`.
 * - `options` what `policy` is called with; plain data.
 */
export const CustomPolicy = z.strictObject({
  module: z.string().regex(/^(?!\.{0,2}\/)./, 'a URL such as import.meta.resolve gives, or a package name'),
  options: z.unknown().optional(),
});
export type CustomPolicy = z.infer<typeof CustomPolicy>;

/** Loads a user's rule. Fails with MODULE_INVALID naming module and fault. */
export async function loadCustomPolicy({ module, options }: CustomPolicy): Promise<JudgePolicy> {
  const { policy: factory } = await importModule(module);
  if (typeof factory !== 'function') throw moduleInvalid(module, 'it exports no function named "policy"');
  const policy: unknown = make(module, factory as (options: unknown) => unknown, options);
  if (isJudgePolicy(policy)) return policy;
  throw moduleInvalid(module, 'what its "policy" returns has no name or no judge function');
}

async function importModule(module: string): Promise<{ policy?: unknown }> {
  try {
    return (await import(module)) as { policy?: unknown };
  } catch (error) {
    throw moduleInvalid(module, (error as Error).message, error);
  }
}

function make(module: string, factory: (options: unknown) => unknown, options: unknown): unknown {
  try {
    return factory(options);
  } catch (error) {
    throw moduleInvalid(module, `its "policy" threw: ${(error as Error).message}`, error);
  }
}

function isJudgePolicy(value: unknown): value is JudgePolicy {
  const { name, judge } = (value ?? {}) as Partial<JudgePolicy>;
  return typeof name === 'string' && typeof judge === 'function';
}
