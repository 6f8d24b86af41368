import { z } from 'zod';
import { AgentTier } from './agent-card.ts';

/**
 * Who stands behind a request from outside: the one answer of every way to prove that.
 *
 * - `id`          unique over all ways: `xpr:alice` and `key:7f3a` are never the same.
 * - `kind`        what it is; `anonymous` has proved nothing.
 * - `tenant`      whose data it may see. It comes from the credentials, never from what the request says.
 * - `roles`       what it may do, by names of the deployment's own.
 * - `tier`        as which the rules judge it. @default 3, that of a specialist
 * - `trust`       0 to 1, and who says so.
 * - `expiresAtMs` until when the proof holds, Unix milliseconds; undefined: as long as the connection.
 */
export const Principal = z.strictObject({
  id: z.string().min(1),
  kind: z.enum(['agent', 'user', 'service', 'anonymous']),
  tenant: z.string().min(1).optional(),
  roles: z.array(z.string().min(1)).readonly(),
  tier: AgentTier.default(3),
  trust: z.strictObject({ score: z.number().min(0).max(1), source: z.string().min(1) }),
  expiresAtMs: z.number().optional(),
});
export type Principal = z.infer<typeof Principal>;

/** All who prove nothing are one: they share what is counted and limited. */
export const ANONYMOUS: Principal = {
  id: 'anonymous',
  kind: 'anonymous',
  roles: [],
  tier: 3,
  trust: { score: 0, source: 'nobody' },
};
