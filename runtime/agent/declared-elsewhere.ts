import { z } from 'zod';
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
