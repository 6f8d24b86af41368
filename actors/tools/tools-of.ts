import type { ToolService } from '../../runtime/protocol/tool-service.ts';
import type { ActorContext } from '../../runtime/public.ts';
import { agentTools } from './agent-tools.ts';
import { systemTools, type ToolSystem } from './system-tools.ts';

/**
 * The tools, resources and prompts of a running system: for the embedder by the system, called as `system/host`; for an agent
 * by its context, called as that agent, and belonging to the work in hand: to its conversation, deadline, budget and path, and
 * cancelled with it. An agent sees those of the agents that the sandbox lets it ask.
 *
 * Fails with INVALID_OPTIONS on what is neither, as is the context of an agent in a process of its own.
 */
export function toolsOf<State>(of: ToolSystem | ActorContext<State>): ToolService {
  const { client } = (of ?? {}) as Partial<ToolSystem>;
  return typeof client === 'function' ? systemTools(of as ToolSystem) : agentTools(of as ActorContext<never>);
}
