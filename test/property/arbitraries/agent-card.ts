import fc from 'fast-check';
import type { AgentCard } from '../../../runtime/protocol/agent-card.ts';
import { arbCapabilityDescriptor } from './capability-descriptor.ts';
import { arbText, arbTimestamp } from './json.ts';
import { arbTier } from './tier-pair.ts';

const REQUIRED: (keyof AgentCard)[] = [
  'id',
  'name',
  'version',
  'description',
  'tier',
  'protocols',
  'endpoints',
  'capabilities',
  'revision',
  'origin',
  'lastSeenAt',
];

/** An id that an agent may have: anything but `*` and `system/...`. */
export const arbAgentId = (): fc.Arbitrary<string> =>
  arbText({ minLength: 1 }).filter((id) => id !== '*' && !id.startsWith('system/'));

/** Any valid card; `fixed` replaces the arbitraries of single fields. */
export const arbAgentCard = (
  fixed: { [Field in keyof AgentCard]?: fc.Arbitrary<AgentCard[Field]> } = {},
): fc.Arbitrary<AgentCard> =>
  fc.record(
    {
      id: arbAgentId(),
      name: arbText({ minLength: 1 }),
      version: fc.constantFrom('1.0.0', '0.3.1-rc.1', '12.0.0'),
      description: arbText(),
      tier: arbTier(),
      protocols: fc.subarray(['a2a/1.0', 'mcp/2024-11-05']),
      endpoints: fc.array(
        fc.record(
          { transport: fc.constantFrom('local', 'hyperswarm', 'websocket', 'libp2p'), address: arbText() },
          { requiredKeys: ['transport'], noNullPrototype: true },
        ),
        { maxLength: 2 },
      ),
      capabilities: fc.uniqueArray(arbCapabilityDescriptor(), { maxLength: 3, selector: ({ id }) => id }),
      revision: fc.nat(),
      sandboxId: arbText(),
      origin: fc.constantFrom('local', 'remote'),
      lastSeenAt: arbTimestamp(),
      author: arbText(),
      icon: arbText(),
      website: arbText(),
      ...fixed,
    },
    { requiredKeys: REQUIRED, noNullPrototype: true },
  ) as fc.Arbitrary<AgentCard>;

/** Cards of different agents; `fixed` as in `arbAgentCard`. */
export const arbTeam = (
  fixed: Parameters<typeof arbAgentCard>[0] = {},
  size: { minLength?: number; maxLength?: number } = { minLength: 1, maxLength: 8 },
): fc.Arbitrary<AgentCard[]> => fc.uniqueArray(arbAgentCard(fixed), { ...size, selector: ({ id }) => id });
