import { AgentDefinition } from '../agent/agent-definition.ts';
import { importAgent } from '../agent/import-agent.ts';
import { invalidOptions } from '../protocol/errors.ts';
import type { AgentSpec, ModuleAgent } from '../system/system-options.ts';
import type { SimulatedAgent } from './simulate-options.ts';

export interface SimulatedAgents {
  /** The agents, as options of a system. */
  readonly specs: readonly AgentSpec[];
  /** The definitions by URL of the module, because virtual threads load no modules. */
  readonly definitions: ReadonlyMap<string, AgentDefinition<unknown>>;
}

/** Loads the modules of agents. Rejects with INVALID_OPTIONS or MODULE_INVALID. */
export async function loadAgents(agents: readonly SimulatedAgent[]): Promise<SimulatedAgents> {
  const specs: AgentSpec[] = [];
  const definitions = new Map<string, AgentDefinition<unknown>>();
  for (const [at, agent] of agents.entries()) {
    if (agent instanceof AgentDefinition) {
      const module = new URL(`simulated:${at}`);
      definitions.set(module.href, agent as AgentDefinition<unknown>);
      specs.push({ module });
      continue;
    }
    const { module } = (agent ?? {}) as { module?: unknown };
    if (!(module instanceof URL)) {
      throw invalidOptions(`agents.${at}`, agent, 'an agent made by defineAgent, or { module: URL }');
    }
    if (!definitions.has(module.href)) definitions.set(module.href, await importAgent(module.href));
    const { instances, lazy } = agent as Partial<ModuleAgent>;
    specs.push({ module, ...(instances && { instances }), ...(lazy === undefined ? {} : { lazy }) });
  }
  return { specs, definitions };
}
