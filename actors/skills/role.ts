import { z } from 'zod';
import { notPermitted } from '../../runtime/protocol/edge-errors.ts';

/** The roles of the skills, those that may the least first. Those in one line may the same. */
const RANKS = [
  ['viewer'],
  ['agent', 'developer'],
  ['tech-lead'],
  ['architect'],
  ['admin', 'tenant-admin', 'platform-admin', 'operator'],
] as const;

/**
 * What a caller may do (Aeterna's roles).
 *
 * - `viewer`              reads what its tenant and it itself have.
 * - `agent`, `developer`  writes what is its own, and of its projects.
 * - `tech-lead`           writes what is of a team.
 * - `architect`           writes what is of an organisation.
 * - `admin`, `tenant-admin`, `platform-admin`, `operator` write everything of their tenant.
 */
export const Role = z.enum(RANKS.flat());
export type Role = z.infer<typeof Role>;

const rankOf = (role: string): number =>
  RANKS.findIndex((names) => (names as readonly string[]).includes(role));

/** Names of roles that the deployment's own mean, by those. A caller's other names mean nothing then. */
export type RoleNames = Readonly<Record<string, Role>>;

/** The role that it takes to write what is of a project, a team, an organisation, or the company. */
export const WRITER_OF_LAYER = {
  project: 'developer',
  team: 'tech-lead',
  org: 'architect',
  company: 'admin',
} as const satisfies Readonly<Record<string, Role>>;

/** The role of a caller that may the most: `viewer` for one whose names mean nothing. */
export function roleOf(names: readonly string[], meanings: RoleNames | undefined): Role {
  const meant = names.map((name) => (meanings === undefined ? normal(name) : (meanings[name] ?? '')));
  return meant.reduce<Role>((best, name) => (rankOf(name) > rankOf(best) ? (name as Role) : best), 'viewer');
}

/** `TechLead`, `tech_lead` and `tech lead` are one. */
const normal = (name: string): string =>
  name
    .replace(/(\p{Ll})(\p{Lu})/gu, '$1-$2')
    .replace(/[\s_]+/g, '-')
    .toLowerCase();

/** Whether a role may do what takes another. */
export const mayAs = (role: Role, needed: Role): boolean => rankOf(role) >= rankOf(needed);

/** Throws NOT_PERMITTED, naming what is wanted and the role that it takes. */
export function requireRole({ role }: { readonly role: Role }, needed: Role, wanted: string): void {
  if (!mayAs(role, needed))
    throw notPermitted(`To ${wanted} takes the role ${needed}, and the caller's is ${role}`, {
      needed,
      role,
    });
}
