import { z } from 'zod';
import type { Principal } from './principal.ts';

/**
 * The caller outside for whom work is done, as far as those who do it may know.
 *
 * - `principalId` the id of its principal.
 * - `tenant`      whose data it may see. @default none: that of a deployment without tenants
 * - `roles`       what it may do, under names of the deployment.
 *
 * All of it comes from credentials, never from a request.
 */
export const Requester = z.strictObject({
  principalId: z.string().min(1),
  tenant: z.string().min(1).exactOptional(),
  roles: z.array(z.string().min(1)).readonly(),
});
export type Requester = Readonly<z.infer<typeof Requester>>;

export const requesterOf = ({
  id,
  tenant,
  roles = [],
}: Pick<Principal, 'id'> & Partial<Pick<Principal, 'tenant' | 'roles'>>): Requester =>
  tenant === undefined ? { principalId: id, roles } : { principalId: id, tenant, roles };
