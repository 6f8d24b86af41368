import type { JsonValue } from '../../../runtime/protocol/json-value.ts';
import type { Tool } from '../../../runtime/protocol/tool.ts';
import { inputSchemaOf } from '../../team/object-schema.ts';
import type { TeamIdentity } from '../../team/served-team.ts';
import type { JsonObject } from '../wire/messages.ts';

/**
 * Our card as Lango has it: names, where we are, and each tool as a capability and as a skill. A skill has the schema
 * of its params beside it. It has none of its result, for what goes out of that is for the firewall to say.
 */
export const langoCard = (
  { name, description, version }: TeamIdentity,
  {
    did,
    peerId,
    addresses,
  }: { readonly did: string; readonly peerId: string; readonly addresses: readonly string[] },
  tools: readonly Tool[],
): JsonObject => ({
  name,
  description,
  version,
  did,
  peerId,
  multiaddrs: [...addresses],
  capabilities: tools.map((tool) => tool.name),
  skills: tools.map((tool) => ({
    id: tool.name,
    name: tool.title,
    description: tool.description,
    tags: [],
    inputSchema: inputSchemaOf(tool.inputSchema) as JsonValue,
  })),
});
