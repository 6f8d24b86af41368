import { invalidOptions } from '../../../runtime/protocol/errors.ts';
import { PACKAGES_FOR, requirePackages } from '../../../runtime/protocol/optional-packages.ts';
import type { Clock } from '../../../runtime/protocol/seams.ts';
import type { SkillStore } from './skill-store.ts';
import { openSqlite } from './sqlite.ts';

const VARIABLE = /^env:(.+)$/;
const POSTGRES = /^postgres(?:ql)?:/;

/** Opens the store that `store` of `SkillOptions` means. Throws INVALID_OPTIONS, PEERS_MISSING, and what opening it fails with. */
export async function openStore(store: string, clock: Clock): Promise<SkillStore> {
  const place = placeOf(store);
  if (!POSTGRES.test(place)) return openSqlite(place, clock);
  requirePackages('a store in PostgreSQL', PACKAGES_FOR.postgres);
  const { openPostgres } = await import('./postgres.ts');
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
