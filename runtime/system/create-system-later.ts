import type { SystemDeps } from './system-deps.ts';
import type { SystemWithStopWork } from './stop-work.ts';
import type { SystemOptions } from './system-options.ts';

/**
 * Starts a system: the control thread, the workers, and the agents. Resolves when every agent has been started once.
 *
 * Fails with INVALID_OPTIONS or MODULE_INVALID; then nothing of it is left.
 */
export async function createSystem(
  deps: SystemDeps,
  options: SystemOptions = {},
): Promise<SystemWithStopWork> {
  // Agents import what exports this too, and start nothing.
  const { createSystem: create } = await import('./create-system.ts');
  return create(deps, options);
}
