import type { AgentTier } from '../../runtime/protocol/agent-card.ts';
import type { Layout } from '../team.ts';

/** What the query of an agent module's URL says, so that one file serves many agents. */
export interface AgentParameters {
  readonly id: string;
  readonly tier: AgentTier;
  readonly senderIndex: number;
  readonly layout: Layout;
}

/** The URL of `module` for one agent. */
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
    id: query.get('id') ?? 'nobody',
    tier: Number(query.get('tier') ?? 2) as AgentTier,
    senderIndex: Number(query.get('senderIndex') ?? 0),
    layout: layout === 'tiers' ? layout : Number(layout),
  };
}
