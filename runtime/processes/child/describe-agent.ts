import type { AgentDefinition } from '../../actor/agent-definition.ts';
import { describeCapability } from '../../protocol/capability.ts';
import type { GivenChildFrame } from '../child-frame.ts';

/** What the host must know of the agent: its options, its capabilities as its card lists them, what it handles else. */
export function describeAgent(
  definition: AgentDefinition<unknown>,
): (GivenChildFrame & { t: 'loaded' })['description'] {
  const { options, handlers, envelopeHandlers } = definition;
  return {
    options,
    capabilities: [...handlers.values()].map(({ capability, kind }) => ({
      descriptor: describeCapability(capability),
      kind,
      carries: capability.carries,
    })),
    types: [...envelopeHandlers.keys()],
  };
}
