import { AgentDefinition } from '../agent/agent-definition.ts';
import { describedElsewhere } from '../agent/declared-elsewhere.ts';
import type { AgentCard } from '../protocol/agent-card.ts';
import type { Description } from '../agent/agent-description.ts';
import { foreignText } from './foreign-text.ts';

/**
 * An agent of which only the description is here: its code is in a process of its own, and so are the schemas that its
 * payloads and answers are parsed with.
 */
export function definitionFrom({
  options,
  capabilities,
  types,
  textFrom,
  node,
  ...content
}: Description): AgentDefinition<unknown> {
  const definition = new AgentDefinition<unknown>(options);
  definition.textFrom = textFrom;
  definition.node = node;
  for (const { descriptor, kind, carries } of capabilities) {
    const declared = describedElsewhere(descriptor, carries);
    if (kind === 'stream') definition.handleStream(declared, elsewhere);
    else definition.handle(declared, elsewhere);
  }
  for (const type of types) definition.on(type, elsewhere);
  for (const resource of content.resources) definition.resource(resource, elsewhere);
  for (const template of content.resourceTemplates) definition.resourceTemplate(template, elsewhere);
  for (const prompt of content.prompts) definition.prompt(prompt, elsewhere);
  return definition;
}

/**
 * The card of a described agent: its capabilities are as its process described them. It has the taint of where its text came from,
 * unless `approved` is the hash of just these.
 */
export function describedCard(
  description: Description,
  nowMs: number,
  approved: string | undefined,
): AgentCard {
  const card = definitionFrom(description).card(nowMs);
  const taint = foreignText(card.id, description, approved)?.taint;
  return {
    ...card,
    capabilities: description.capabilities.map(({ descriptor }) => descriptor),
    ...(taint && { taint }),
  };
}

function elsewhere(): never {
  throw new Error('The code of this agent is in another process');
}
