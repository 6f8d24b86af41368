import { z } from 'zod';

/** Two words of 32 bits; the second is never 0. */
const OutsiderKey = z.tuple([z.int32(), z.int32()]).readonly();
export type OutsiderKey = z.infer<typeof OutsiderKey>;

/**
 * Who outside the system stands at the root of what caused an envelope: deaths over it are charged to them.
 *
 * - `name` for people to read.
 * - `key`  which one it is, in as little as shared memory has room for.
 */
export const Outsider = z.object({ name: z.string(), key: OutsiderKey });
export type Outsider = Readonly<z.infer<typeof Outsider>>;

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
