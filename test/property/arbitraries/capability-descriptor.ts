import fc from 'fast-check';
import type { CapabilityDescriptor } from '../../../runtime/protocol/agent-card.ts';
import { arbJson, arbText } from './json.ts';

/** Few enough that agents share some. */
export const CAPABILITY_IDS = [
  'types.check',
  'schema.design',
  'codegen.react',
  'security.scan',
  'docs.write',
];

/** Any valid capability descriptor; `id` fixes which. */
export const arbCapabilityDescriptor = (
  id: fc.Arbitrary<string> = fc.oneof(fc.constantFrom(...CAPABILITY_IDS), arbText({ minLength: 1 })),
): fc.Arbitrary<CapabilityDescriptor> =>
  fc.record(
    {
      id,
      name: arbText(),
      description: arbText(),
      inputSchema: arbJson(),
      outputSchema: arbJson(),
      tags: fc.array(arbText(), { maxLength: 2 }),
      requiresConfirmation: fc.boolean(),
    },
    { requiredKeys: ['id', 'name', 'description', 'inputSchema', 'outputSchema'], noNullPrototype: true },
  );
