import type { MakeActor } from '../cell/actor-life.ts';
import { type AgentDefinition, defineAgent } from '../agent/agent-definition.ts';
import type { Cell } from '../cell/cell.ts';
import { importAgent } from '../agent/import-agent.ts';
import type { PeerHost } from '../peers/peer-host.ts';
import { isPeerModule, nameIn } from '../peers/peer-module.ts';
import type { ProcessHost } from '../processes/process-host.ts';
import type { ProcessOptions } from '../agent/process-options.ts';
import type { AgentCard } from '../protocol/agent-card.ts';
import { errorWithStack, moduleInvalid, notHere } from '../protocol/errors.ts';
import { changeCell, type Changed, type NextCode, resumeCell } from '../cell/cell-lives.ts';
import type { ChangeOrder, ControlOrder, NodeReport } from './control-protocol.ts';
import { type LoadedAgent, loadedAgent } from '../agent/loaded-agent.ts';
import type { ThreadNode } from './thread-node.ts';

type HostOrder = ControlOrder & { readonly t: 'host' };

export interface AgentHostDeps {
  readonly node: ThreadNode;
  readonly processes: ProcessHost;
  /** The agents of other nodes, in the place that speaks with those. */
  readonly peers: () => PeerHost | undefined;
  /** Agents that were given as live objects, by their key. */
  readonly inline: ReadonlyMap<string, AgentDefinition<unknown>>;
  /** Makes the lives of agents whose code runs here. @default the code alone */
  readonly makeActor: MakeActor | undefined;
  readonly tell: (message: NodeReport) => void;
}

/** Loads the code of a place's agents, and gives each its mailbox and what it has kept. */
export class AgentHost {
  readonly #deps: AgentHostDeps;
  readonly #definitions = new Map<string, AgentDefinition<unknown>>();

  constructor(deps: AgentHostDeps) {
    this.#deps = deps;
  }

  /** What a module holds, imported here or in a process of its own. Fails with MODULE_INVALID naming it. */
  async load(module: string, process?: ProcessOptions): Promise<LoadedAgent> {
    const { node, processes } = this.#deps;
    if (process !== undefined) return processes.load({ module, options: process });
    if (isPeerModule(module)) return this.#peers(module).load(module);
    const definition = await this.#load(module);
    return loadedAgent(definition, definition.card(node.seams.clock.now()));
  }

  /** Has an agent run other code; the control thread is told what became of it. */
  async change(order: ChangeOrder): Promise<void> {
    const { tell } = this.#deps;
    const { ref } = order;
    try {
      tell({ t: 'changed', ref, changed: await this.#changed(order), error: undefined });
    } catch (error) {
      const data = errorWithStack(error, { fallbackCode: 'MODULE_INVALID' });
      tell({ t: 'changed', ref, changed: undefined, error: data });
    }
  }

  async #changed(order: ChangeOrder): Promise<Changed> {
    const { slot, module, resumed, graceMs, isFresh } = order;
    const { node } = this.#deps;
    const cell = node.cellOf(slot);
    if (cell === undefined) throw notHere(module, node.id);
    const next = await this.#codeOf({ ...order, id: cell.row.id });
    return resumed === undefined
      ? changeCell(cell, next, { graceMs, isFresh })
      : resumeCell(cell, next, resumed.snapshot);
  }

  /** The code that an agent is to run. Fails with MODULE_INVALID naming it. */
  async #codeOf({
    id,
    module,
    process,
  }: Pick<ChangeOrder, 'module' | 'process'> & { readonly id: string }): Promise<NextCode> {
    const { processes, makeActor } = this.#deps;
    if (process !== undefined) return processes.agent(module, process);
    if (isPeerModule(module)) return this.#peerCode(id, module);
    return { definition: await this.#load(module), makeActor };
  }

  /** Takes agents in; the control thread is told when their code is here, and when all is done or has failed. */
  async host({ ref, change, agents, isAgain }: HostOrder): Promise<void> {
    const { node, processes, tell } = this.#deps;
    try {
      const hosted = await Promise.all(agents.map((agent) => this.#hostedOf(agent, isAgain)));
      tell({ t: 'loaded', ref });
      node.router.enter(change);
      const cells = agents.flatMap(({ id, module, process }, at) => {
        const cell = this.#cellOf(id, hosted[at] as NextCode | Error);
        if (process !== undefined && cell?.row.profile.lazy === true)
          processes.dismiss({ module, options: process.options });
        return cell ?? [];
      });
      await this.#remember(cells, isAgain);
      if (isAgain) node.journal?.awaitRest(cells);
      tell({ t: 'hosted', ref, error: undefined });
    } catch (error) {
      tell({ t: 'hosted', ref, error: errorWithStack(error, { fallbackCode: 'MODULE_INVALID' }) });
    }
  }

  #cellOf(id: string, agent: NextCode | Error): Cell | undefined {
    const { node, makeActor: usual } = this.#deps;
    const row = node.table.get(id);
    if (row === undefined) return undefined;
    const { definition, makeActor = usual } =
      agent instanceof Error ? { definition: unstartable(row.profile.card, agent) } : agent;
    return node.host(row, definition, makeActor);
  }

  async #hostedOf(
    { id, module, broken, process }: HostOrder['agents'][number],
    isAgain: boolean,
  ): Promise<NextCode | Error> {
    if (broken !== undefined) return moduleInvalid(module, broken);
    try {
      return await this.#codeOf({ id, module, process });
    } catch (error) {
      if (isAgain) return error as Error;
      throw error;
    }
  }

  /** Where the journal cannot be read, a team does not start; one that runs goes on without what it says. */
  async #remember(cells: readonly Cell[], isAgain: boolean): Promise<void> {
    const { journal, log } = this.#deps.node;
    try {
      await journal?.remember(cells);
    } catch (error) {
      if (!isAgain) throw error;
      for (const { row } of cells) if (row.profile.durable) log.error(row.id, error);
    }
  }

  /** Where this thread has taken the place of another, the row says what there is to know. */
  async #peerCode(id: string, module: string): Promise<NextCode> {
    const { node, peers } = this.#deps;
    const { peerCode } = await import('../peers/peer-agent.ts');
    return peerCode(node.table.get(id)?.profile ?? this.#peers(module).load(module), peers);
  }

  #peers(module: string): PeerHost {
    const { peers } = this.#deps;
    const host = peers();
    if (host === undefined) throw notHere(nameIn(module), this.#deps.node.id);
    return host;
  }

  async #load(module: string): Promise<AgentDefinition<unknown>> {
    const known = this.#deps.inline.get(module) ?? this.#definitions.get(module);
    if (known !== undefined) return known;
    const definition = await importAgent(module);
    this.#definitions.set(module, definition);
    return definition;
  }
}

/** Stands for an agent whose module does not load any more: its start fails, and its supervisor decides what is next. */
const unstartable = (
  { id, name, version, description, tier }: AgentCard,
  error: Error,
): AgentDefinition<unknown> =>
  defineAgent({ id, name, version, description, tier }).onStart((): unknown => {
    throw error;
  });
