import { z } from 'zod';
import type { CapabilityDescriptor } from '../protocol/agent-card.ts';
import { hashOf } from '../protocol/approval.ts';
import type { Capability } from '../protocol/capability.ts';

/** A capability of which no more is known here than what carries its payloads. */
export const declaredElsewhere = (id: string, carries: Capability['carries'] = 'json'): Capability => ({
  id,
  name: id,
  description: '',
  input: z.unknown(),
  output: z.unknown(),
  carries,
  readOnly: false,
});

/** The same of one that is described: a privileged one is approved as it is described, and no other. */
export function describedElsewhere(
  descriptor: CapabilityDescriptor,
  carries: Capability['carries'] | undefined,
): Capability {
  const declared = declaredElsewhere(descriptor.id, carries);
  return descriptor.privileged === true
    ? { ...declared, privileged: true, edition: hashOf(descriptor) }
    : declared;
}
