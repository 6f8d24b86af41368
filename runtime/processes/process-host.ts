import type { AgentDefinition } from '../agent/agent-definition.ts';
import type { MakeActor } from '../cell/actor-life.ts';
import type { Cell } from '../cell/cell.ts';
import { invalidOptions } from '../protocol/errors.ts';
import type { Clock, EventLoop } from '../protocol/seams.ts';
import type { ProgressLimits } from '../supervision/progress-watch.ts';
import type { WatchdogLimits } from '../supervision/supervisor-options.ts';
import { type LoadedAgent, loadedAgent } from '../agent/loaded-agent.ts';
import type { Description, ProcessAgent } from '../agent/agent-description.ts';
import { ProcessActor } from './process-actor.ts';
import { JournalledProcesses, type ProcessJournal } from './journalled-processes.ts';
import type { ProcessSpawner } from './process-spawner.ts';
import { Processes, type ProcessOrder } from './processes.ts';
import { describedCard, definitionFrom } from './described-agent.ts';

export interface ProcessHostDeps {
  /** Undefined where no processes are started. */
  readonly spawner: ProcessSpawner | undefined;
  readonly clock: Clock;
  readonly watchdog: WatchdogLimits;
  readonly starting: ProgressLimits;
  readonly loop: EventLoop;
  /** Where it is noted which processes there are; undefined without one. */
  readonly journal: () => ProcessJournal | undefined;
}

/** The agents of one place whose code runs in processes of their own. */
export class ProcessHost {
  readonly #deps: ProcessHostDeps;
  readonly #actors = new Map<Cell, ProcessActor>();
  #processes: Processes | undefined;

  constructor(deps: ProcessHostDeps) {
    this.#deps = deps;
  }

  /** What agent a module holds, as its own process says. Fails with MODULE_INVALID. */
  async load(order: ProcessOrder): Promise<LoadedAgent> {
    const { options } = order;
    const description = await this.#open().load(order);
    const card = describedCard(description, this.#deps.clock.now(), options.catalogue.approved);
    const { tier = card.tier, sandboxId = card.sandboxId } = options;
    const granted = { ...card, tier, ...(sandboxId === undefined ? {} : { sandboxId }) };
    return loadedAgent(definitionFrom(description), granted, { options, description });
  }

  /** What stands for the agent here, and how its lives are made. */
  agent(
    module: string,
    { options, description }: ProcessAgent,
  ): { definition: AgentDefinition<unknown>; makeActor: MakeActor } {
    const order = { module, options };
    return {
      definition: definitionFrom(description),
      makeActor: (cell) => this.#makeActor(cell, order, description),
    };
  }

  /** Nobody needs the process soon in which the module was loaded to see what it holds. */
  dismiss(order: ProcessOrder): void {
    this.#processes?.dismiss(order);
  }

  /** Ends the agent's process from outside. */
  endProcess(cell: Cell): void {
    this.#actors.get(cell)?.endProcess();
  }

  /** The agent is no more. */
  forget(cell: Cell): void {
    this.#actors.delete(cell);
  }

  async close(): Promise<void> {
    await this.#processes?.close();
  }

  #makeActor(cell: Cell, order: ProcessOrder, shown: Description): ProcessActor {
    const before = this.#actors.get(cell);
    const isFree = before?.gone ?? Promise.resolve();
    const actor = new ProcessActor(cell, { processes: this.#open(), order, shown, isFree });
    this.#actors.set(cell, actor);
    return actor;
  }

  #open(): Processes {
    const { spawner, clock, watchdog, starting, loop, journal } = this.#deps;
    if (spawner === undefined) throw invalidOptions('isolation', 'process', 'one that this place can give');
    if (this.#processes !== undefined) return this.#processes;
    const arrivals = () => new Promise<void>((resolve) => loop.yieldTurn(resolve));
    const book = new JournalledProcesses({ journal, clock });
    // What a former thread has left is looked for again at the next start of a system.
    book.tidy().catch(() => undefined);
    this.#processes = new Processes({ spawner, clock, watchdog, starting, arrivals, book });
    return this.#processes;
  }
}
