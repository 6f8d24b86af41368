import { z } from 'zod';
import { Role } from './role.ts';

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
