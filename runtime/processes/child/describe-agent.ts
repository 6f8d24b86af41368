import { type AgentDefinition, descriptorOf } from '../../agent/agent-definition.ts';
import type { GivenChildFrame } from '../child-frame.ts';

/** What the host must know of the agent: its options, its capabilities as its card lists them, what it handles and offers else. */
export function describeAgent(
  definition: AgentDefinition<unknown>,
): (GivenChildFrame & { t: 'loaded' })['description'] {
  const { options, handlers, envelopeHandlers, content, wordsFrom, node } = definition;
  return {
    options,
    capabilities: [...handlers.values()].map((entry) => ({
      descriptor: descriptorOf(entry),
      kind: entry.kind,
      carries: entry.capability.carries,
    })),
    types: [...envelopeHandlers.keys()],
    resources: [...content.resources],
    resourceTemplates: [...content.templates],
    prompts: [...content.prompts],
    ...(wordsFrom && { wordsFrom: [...wordsFrom] }),
    ...(node === undefined ? {} : { node }),
  };
}
