import type { JsonValue } from '../../../runtime/protocol/json-value.ts';
import type { Tool } from '../../../runtime/protocol/tool.ts';
import { inputSchemaOf, isObjectSchema, RESULT_FIELD, schemaOfField } from '../../team/object-schema.ts';
import type { TeamIdentity } from '../../team/served-team.ts';
import type { JsonObject } from '../wire/messages.ts';

/**
 * Our card as Lango has it: names, where we are, and each tool as a capability and as a skill. A skill has the tool's schemas
 * beside it, for those who know what to do with them.
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
    outputSchema: outputSchemaOf(tool) as JsonValue,
  })),
});

/** What a result is on the wire: an object. A streaming tool gives a list. */
const outputSchemaOf = ({ outputSchema, streams }: Tool): unknown =>
  !streams && isObjectSchema(outputSchema)
    ? outputSchema
    : ((streams ? undefined : schemaOfField(RESULT_FIELD, outputSchema)) ?? { type: 'object' });
