import { invalidOptions } from '../../runtime/protocol/errors.ts';
import { parseOptions } from '../../runtime/protocol/parse-options.ts';
import type { ModuleAgent } from '../../runtime/public.ts';
import { withOptions } from './module-options.ts';
import { SkillOptions } from './skill-options.ts';

/**
 * The agents of the skills, to be started in worker threads. Throws INVALID_OPTIONS naming field and value; so does their start, for
 * a store that cannot be opened.
 */
export function skillAgents(options: SkillOptions = {}): readonly ModuleAgent[] {
  const parsed = parseOptions(SkillOptions, options, 'skills');
  requireNoSecret(parsed.store);
  return [{ module: withOptions(new URL('./memory/memory.agent.ts', import.meta.url), parsed) }];
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
