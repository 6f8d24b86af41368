import { loadPolicies, type PolicyOptions } from './policies/index.ts';
import { systemSeams } from './runtime/protocol/system-seams.ts';
import { createSystem as createSystemFrom } from './runtime/system/create-system.ts';
import type { System } from './runtime/system/system.ts';
import { requireOptions, type SystemOptions } from './runtime/system/system-options.ts';
import { NodeSpawner } from './runtime/threads/node-spawner.ts';

export { DEFAULT_TIER_ASSIGNMENTS } from './actors/planets/index.ts';
export { DEFAULT_TIER_RULES, defaultPolicies, loadPolicies, type PolicyOptions } from './policies/index.ts';
export * from './runtime/public.ts';
export { LocalNetwork, type LocalNetworkOptions } from './transports/local.ts';

/** What a system can be started with; `policies` left out are the defaults, on. */
export interface StartOptions extends SystemOptions {
  readonly policies?: PolicyOptions;
}

/**
 * Starts a team with the defaults: real threads, the real clock, the default policies. Needs no server and no file.
 *
 * Fails with INVALID_OPTIONS naming field and value, or MODULE_INVALID naming the module; then nothing of it is left.
 */
export async function startSystem(options: StartOptions = {}): Promise<System> {
  const { policies = {}, ...rest } = requireOptions(options);
  return createSystemFrom(
    {
      seams: systemSeams(),
      spawner: new NodeSpawner(new URL('./worker.ts', import.meta.url)),
      policies: await loadPolicies(policies),
      workerOptions: policies,
    },
    rest,
  );
}
