import { z } from 'zod';
import { Outsider } from './outsider.ts';

/**
 * On whose behalf work is done, and with it all that it causes, for as long as that goes on.
 *
 * - `tenant`   for whom, as somebody's credentials say.
 * - `outsider` who outside stands at the root of it: deaths over it are charged to them.
 */
export const Behalf = z.object({
  tenant: z.string().exactOptional(),
  outsider: Outsider.exactOptional(),
});
export type Behalf = z.infer<typeof Behalf>;

/** That part alone of what is known of some work; undefined when it is done on nobody's behalf. */
export function behalfOf(work: Behalf | undefined): Behalf | undefined {
  if (work === undefined) return undefined;
  const { tenant, outsider } = work;
  if (outsider === undefined) return tenant === undefined ? undefined : { tenant };
  return tenant === undefined ? { outsider } : { tenant, outsider };
}
