import { z } from 'zod';
import { invalidOptions } from '../../runtime/protocol/errors.ts';
import { PACKAGES_FOR, requirePackages } from '../../runtime/protocol/optional-packages.ts';
import type { Clock } from '../../runtime/protocol/seams.ts';
import { Role } from './role.ts';
import type { SkillStore } from './store/skill-store.ts';
import { openSqlite } from './store/sqlite.ts';

/**
 * What the skills have in common.
 *
 * - `store` where they keep what they know: a file, `:memory:`, the URL of a PostgreSQL database (`postgres://…`), or `env:NAME`,
 *           the environment variable that says it. @default '.orrery/skills.sqlite'
 * - `roles` which role each name of the deployment's own roles means. @default names mean the roles that are called so
 */
export const SkillOptions = z.strictObject({
  store: z.string().min(1).default('.orrery/skills.sqlite'),
  roles: z.record(z.string().min(1), Role).readonly().optional(),
});
export type SkillOptions = z.input<typeof SkillOptions>;

const VARIABLE = /^env:(.+)$/;
const POSTGRES = /^postgres(?:ql)?:/;

/** Opens the store that is meant. Throws INVALID_OPTIONS, PEERS_MISSING, and what opening it fails with. */
export async function openStore(store: string, clock: Clock): Promise<SkillStore> {
  const place = placeOf(store);
  if (!POSTGRES.test(place)) return openSqlite(place, clock);
  requirePackages('a store in PostgreSQL', PACKAGES_FOR.postgres);
  const { openPostgres } = await import('./store/postgres.ts');
  return openPostgres(place);
}

function placeOf(store: string): string {
  const name = VARIABLE.exec(store)?.[1];
  if (name === undefined) return store;
  const place = process.env[name];
  if (place === undefined || place === '')
    throw invalidOptions('store', store, `an environment variable that is set: ${name} is not`);
  return place;
}
