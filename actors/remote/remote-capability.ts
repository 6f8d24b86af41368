import { z } from 'zod';
import type { DelegationParams } from '../../runtime/protocol/a2a-extension.ts';
import { type Capability, capability } from '../../runtime/protocol/capability.ts';
import type { RemoteSkill } from '../../runtime/protocol/remote-agent.ts';

/** Schemas that are larger are not looked at: whatever they allow is allowed. */
const MAX_SCHEMA = 65_536;

/** A skill of an agent elsewhere as a capability here. What it takes and gives is checked where its card says what that is. */
export function capabilityOf(skill: RemoteSkill, delegation: DelegationParams | undefined): Capability {
  const { input, output, readOnly = false } = delegation?.skills?.[skill.id] ?? {};
  const { id, name, description } = skill;
  const about = { id, name, description, readOnly };
  try {
    return capability({ ...about, input: schemaOf(input), output: schemaOf(output) });
  } catch {
    return capability({ ...about, input: z.unknown(), output: z.unknown() });
  }
}

/** What a JSON Schema of somebody else allows; anything for one that cannot be understood. */
function schemaOf(schema: unknown): z.ZodType {
  if (typeof schema !== 'object' || schema === null) return z.unknown();
  try {
    if (JSON.stringify(schema).length > MAX_SCHEMA) return z.unknown();
    return z.fromJSONSchema(withoutPatterns(schema) as Parameters<typeof z.fromJSONSchema>[0]);
  } catch {
    return z.unknown();
  }
}

/** A regular expression of somebody else may take for ever on a text of theirs. */
function withoutPatterns(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(withoutPatterns);
  if (typeof schema !== 'object' || schema === null) return schema;
  const fields = Object.entries(schema).filter(
    ([name, value]) => !PATTERNS.has(name) || typeof value === 'object',
  );
  return Object.fromEntries(
    fields.flatMap(([name, value]) => (name === 'patternProperties' ? [] : [[name, withoutPatterns(value)]])),
  );
}

const PATTERNS: ReadonlySet<string> = new Set(['pattern', 'format', '$schema']);
