import type { Party } from './policy.ts';
import type { SandboxRoutingConfig } from './routing-config.ts';

/** Says whether `from` may write to `to` as far as sandboxes go. */
export type SandboxReach = (from: Party, to: Party) => boolean;

/**
 * The sandbox rule under `config`, for delivery and for discovery alike: what an agent may not reach it does not see.
 *
 * Only a sandboxed sender is bound: to its own sandbox, the agents on the lists, and the system.
 */
export function sandboxReach({
  enforced,
  crossSandboxAllowList,
  allow = {},
}: SandboxRoutingConfig): SandboxReach {
  if (!enforced) return () => true;
  const fromEverywhere = new Set(crossSandboxAllowList);
  const fromOne = new Map(Object.entries(allow).map(([sandboxId, ids]) => [sandboxId, new Set(ids)]));
  return (from, to) =>
    from.sandboxId === undefined ||
    from.sandboxId === to.sandboxId ||
    from.isSystem ||
    to.isSystem ||
    fromEverywhere.has(to.id) ||
    fromOne.get(from.sandboxId)?.has(to.id) === true;
}
