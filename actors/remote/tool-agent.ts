import { AgentDefinition } from '../../runtime/agent/agent-definition.ts';
import { GivenCapability } from '../../runtime/protocol/capability-options.ts';
import { invalidCard } from '../../runtime/protocol/errors.ts';
import { parseOptions } from '../../runtime/protocol/parse-options.ts';
import type { RemoteToolLink } from '../../runtime/protocol/remote-agent.ts';
import { capabilityOf, identityOf, markCatalogue } from './remote-member.ts';
import { ToolAgentOptions } from './remote-options.ts';

/**
 * Makes an agent of a remote one that has tools: they become capabilities, and a request is a call. It ends there when it ends
 * here. It has the tier that it is granted, and by default a sandbox of its own.
 *
 * Rejects with INVALID_OPTIONS naming field and value, with INVALID_CARD for a card without tools, and as the link does.
 */
export async function toolAgentOver(
  link: RemoteToolLink,
  { protocol, ...options }: ToolAgentOptions & { readonly protocol: string },
): Promise<AgentDefinition> {
  const settings = parseOptions(ToolAgentOptions, options, 'langoAgent');
  const card = await link.card();
  const node = settings.node ?? link.node;
  const agent = new AgentDefinition(identityOf(card, { name: undefined, node, protocol, settings }));
  agent.node = node;
  agent.isProxy = true;
  agent.concurrency = settings.concurrency;
  for (const tool of card.tools) {
    if (agent.handlers.has(tool.id) || !GivenCapability.shape.id.safeParse(tool.id).success) continue;
    agent.handle(capabilityOf(tool, tool), (input, ctx) => {
      if (!settings.trusted) ctx.markOutside(link.source);
      return ctx.effect(`${agent.options.id} ${tool.id}`, () =>
        link.call(tool.id, input, { signal: ctx.signal }),
      );
    });
  }
  if (agent.handlers.size === 0) throw invalidCard(`${link.node} has no tools that it could be asked for`);
  if (!settings.trusted) markCatalogue(agent, [link.source], settings.catalogue.approved);
  return agent;
}
