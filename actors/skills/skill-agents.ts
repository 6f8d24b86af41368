import { z } from 'zod';
import { invalidOptions } from '../../runtime/protocol/errors.ts';
import { parseOptions } from '../../runtime/protocol/parse-options.ts';
import type { ModuleAgent } from '../../runtime/public.ts';
import { KnowledgeOptions } from './knowledge/knowledge-options.ts';
import { MemoryOptions } from './memory/memory-options.ts';
import { withOptions } from './module-options.ts';
import { SkillOptions } from './skill-options.ts';

/** What the skills have in common, and what is of one of them. */
export const SkillTeamOptions = z.strictObject({ ...MemoryOptions.shape, ...KnowledgeOptions.shape });
export type SkillTeamOptions = z.input<typeof SkillTeamOptions>;

/**
 * The agents `memory`, `knowledge` and `governance`, to be started in worker threads. Throws INVALID_OPTIONS naming field and value;
 * their start fails for a store that cannot be opened.
 */
export function skillAgents(options: SkillTeamOptions = {}): readonly ModuleAgent[] {
  const parsed = parseOptions(SkillTeamOptions, options, 'skills');
  requireNoSecret(parsed.store);
  const of = (schema: z.ZodObject): Record<string, unknown> =>
    Object.fromEntries(Object.entries(parsed).filter(([name]) => name in schema.shape));
  return [
    { module: withOptions(new URL('./memory/memory.agent.ts', import.meta.url), of(MemoryOptions)) },
    { module: withOptions(new URL('./knowledge/knowledge.agent.ts', import.meta.url), of(KnowledgeOptions)) },
    { module: withOptions(new URL('./governance/governance.agent.ts', import.meta.url), of(SkillOptions)) },
  ];
}

/** The address of a module is read by more people than a password is for. */
function requireNoSecret(store: string): void {
  if (!URL.canParse(store) || new URL(store).password === '') return;
  const url = new URL(store);
  url.password = '…';
  throw invalidOptions(
    'store',
    url.href,
    'env:NAME, the environment variable that says the URL, where that has a password',
  );
}
