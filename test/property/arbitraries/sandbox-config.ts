import fc from 'fast-check';
import type { SandboxRoutingConfig } from '../../../runtime/protocol/routing-config.ts';

export const SANDBOX_IDS = ['box-a', 'box-b', 'constructor'];

/** The sandbox of an agent, or none. */
export const arbSandboxId = (): fc.Arbitrary<string | undefined> =>
  fc.constantFrom<string | undefined>(undefined, ...SANDBOX_IDS);

/** Any sandbox configuration whose lists name agents out of `agentIds`. */
export const arbSandboxConfig = (agentIds: readonly string[]): fc.Arbitrary<SandboxRoutingConfig> =>
  fc.record(
    {
      enforced: fc.oneof({ arbitrary: fc.constant(true), weight: 4 }, { arbitrary: fc.boolean(), weight: 1 }),
      crossSandboxAllowList: fc.oneof(fc.constant([]), fc.subarray([...agentIds])),
      allow: fc.dictionary(fc.constantFrom(...SANDBOX_IDS), fc.subarray([...agentIds]), {
        noNullPrototype: true,
      }),
    },
    { requiredKeys: ['enforced', 'crossSandboxAllowList'], noNullPrototype: true },
  );
