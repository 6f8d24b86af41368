import { AgentDefinition } from '../agent/agent-definition.ts';
import type { AgentOrder } from '../control/enrolment.ts';
import { type parseAgent, processOptionsOf } from './system-options.ts';

/** Code as it is given: a module by its URL, or a live definition, which only the embedder's thread has. */
export interface GivenCode {
  readonly module: string;
  readonly isLive: boolean;
}

/** Agents as their embedder gives them: live ones are kept under keys, by which the embedder's thread finds them again. */
export class GivenAgents {
  readonly #live = new Map<string, AgentDefinition<unknown>>();

  /** The live ones, by their keys. */
  get live(): ReadonlyMap<string, AgentDefinition<unknown>> {
    return this.#live;
  }

  codeOf(code: URL | AgentDefinition<unknown>): GivenCode {
    if (code instanceof URL) return { module: code.href, isLive: false };
    const known = [...this.#live].find(([, definition]) => definition === code);
    const key = known?.[0] ?? `inline:${this.#live.size}`;
    this.#live.set(key, code);
    return { module: key, isLive: true };
  }

  orderOf(agent: ReturnType<typeof parseAgent> | AgentDefinition): AgentOrder {
    if (agent instanceof AgentDefinition) {
      const { module } = this.codeOf(agent as AgentDefinition<unknown>);
      return { ...PLAIN_ORDER, module, isInline: true };
    }
    const { module, isolation, instances, lazy } = agent;
    const isInline = isolation === 'inline';
    const process = processOptionsOf(agent);
    return { ...PLAIN_ORDER, module: module.href, isInline, process, ids: instances, lazy };
  }
}

const PLAIN_ORDER = { ids: undefined, lazy: undefined, card: undefined, process: undefined };
