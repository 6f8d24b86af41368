import type { AgentTier } from 'orrery';
import type { Layout } from '../team.ts';

/** What the query of an agent module's URL says, so that one file serves agents of any tier and layout. */
export interface AgentParameters {
  readonly tier: AgentTier;
  readonly layout: Layout;
}

/** The URL of `module` with parameters. */
export function withParameters(module: URL, parameters: Partial<AgentParameters>): URL {
  const url = new URL(module);
  for (const [name, value] of Object.entries(parameters)) url.searchParams.set(name, String(value));
  return url;
}

/** What the URL of the calling module (`import.meta.url`) says. */
export function parametersOf(url: string): AgentParameters {
  const query = new URL(url).searchParams;
  const layout = query.get('layout') ?? 'tiers';
  return {
    tier: Number(query.get('tier') ?? 2) as AgentTier,
    layout: layout === 'tiers' ? layout : Number(layout),
  };
}
