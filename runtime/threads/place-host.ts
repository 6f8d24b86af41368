import { AgentDefinition, defineAgent } from '../actor/agent-definition.ts';
import { AgentOptions } from '../actor/agent-options.ts';
import type { Cell } from '../actor/cell.ts';
import { CpuPool, type CpuPoolOptions } from '../actor/offload.ts';
import { InFlow } from '../mailbox/in-flow.ts';
import type { Lane } from '../mailbox/lane.ts';
import { mailFromData, toEnvelope } from '../mailbox/mail.ts';
import { flowBase } from '../mailbox/flow-marks.ts';
import type { SystemEvent } from '../observe/system-event.ts';
import { answerEnvelopeOf, TRAFFIC } from '../observe/traffic-ring.ts';
import type { AgentCard } from '../protocol/agent-card.ts';
import type { A2AEnvelope, Delivery } from '../protocol/envelope.ts';
import {
  errorToData,
  moduleInvalid,
  notHere,
  type OrreryError,
  systemStopped,
  reasonOf,
} from '../protocol/errors.ts';
import { parseOptions } from '../protocol/parse-options.ts';
import type { JudgePolicy } from '../protocol/policy.ts';
import type { RoutingConfig } from '../protocol/routing-config.ts';
import type { Seams } from '../protocol/seams.ts';
import { GrantBook } from '../routing/grants.ts';
import { RouteDecider } from '../routing/route-decider.ts';
import { RoutingTable, type TableDelta } from '../routing/routing-table.ts';
import type { EventLoop } from './event-loop.ts';
import type { ControlMessage, PlaceMessage, Replay } from './lines.ts';
import { Place } from './place.ts';
import type { Port } from './port.ts';

/** What a place is started with, as plain data. */
export interface PlaceBoot {
  readonly id: string;
  readonly seat: number;
  readonly counters: SharedArrayBuffer;
  readonly status: SharedArrayBuffer;
  readonly commitLog: SharedArrayBuffer;
  readonly table: TableDelta;
  readonly broadcastToSender: boolean;
  readonly cpu: CpuPoolOptions;
}

/** What a module says of its agent. */
export interface LoadedAgent {
  readonly card: AgentCard;
  readonly delivery: Delivery;
  readonly mailboxCapacity: number;
  readonly lazy: boolean;
  readonly restart: 'permanent' | 'transient' | 'temporary';
}

/** Counts of one place; `inFlight` is counted in its mailboxes and ledgers. */
export interface PlaceStats {
  readonly inFlight: number;
  readonly isIdle: boolean;
}

export interface PlaceHostDeps {
  readonly boot: PlaceBoot;
  readonly seams: Seams;
  readonly policies: readonly JudgePolicy[];
  readonly line: Port;
  readonly received: (port: unknown) => Port;
  readonly loop: EventLoop;
  /** Agents that were given as live objects, by their key. */
  readonly inline: ReadonlyMap<string, AgentDefinition<unknown>>;
  readonly onEvents?: (events: readonly SystemEvent[]) => void;
}

const DEFAULT_CAPACITY = 1_000;

/** Runs one place on the control thread's orders, and answers its questions (`PlaceHost` is the api of a place). */
export class PlaceHost {
  readonly place: Place;
  readonly #deps: PlaceHostDeps;
  readonly #cpu: CpuPool;
  readonly #definitions = new Map<string, AgentDefinition<unknown>>();

  constructor(deps: PlaceHostDeps) {
    this.#deps = deps;
    const { boot, seams, policies } = deps;
    this.#cpu = new CpuPool({ seams }, boot.cpu);
    const table = new RoutingTable();
    const grants = new GrantBook(seams.clock);
    const { broadcastToSender } = boot;
    this.place = new Place({
      ...boot,
      seams,
      table,
      grants,
      decider: new RouteDecider(table, policies, seams.clock, { grants, broadcastToSender }),
      loop: deps.loop,
      cpu: this.#cpu,
      tell: (message) => this.#tell(message),
    });
    this.place.router.replace(boot.table);
    deps.line.onMessage((message) => {
      this.place.turns.begin();
      this.#obey(message as ControlMessage);
    });
  }

  /** Imports an agent module; fails with MODULE_INVALID naming it. */
  async load(module: string): Promise<LoadedAgent> {
    const definition = await this.#load(module);
    const { options } = definition;
    return {
      card: definition.card(this.#deps.seams.clock.now()),
      delivery: options.delivery ?? 'once',
      mailboxCapacity: options.mailboxCapacity ?? DEFAULT_CAPACITY,
      lazy: options.lazy ?? false,
      restart: options.restart ?? 'permanent',
    };
  }

  stats(): PlaceStats {
    this.place.outbox.flush();
    return { inFlight: this.place.inFlight(), isIdle: this.place.isIdle };
  }

  configure(config: RoutingConfig): void {
    this.place.judge.configure(config);
  }

  inspect(isOn: boolean): void {
    this.place.log.inspect(isOn);
  }

  recentEvents(): readonly SystemEvent[] {
    return this.place.log.recentEvents();
  }

  /** The envelopes of one conversation that this thread remembers having sent or answered. */
  thread(correlationId: string): readonly A2AEnvelope[] {
    const envelopes: A2AEnvelope[] = [];
    for (const traffic of this.place.log.traffic.entries()) {
      const { kind, mail } = traffic;
      if (mail.correlationId !== correlationId) continue;
      if (kind === TRAFFIC.sent) {
        const { tier, sandboxId } = this.place.judge.partyOf(mail.sender);
        envelopes.push(toEnvelope(mail, tier, sandboxId));
      } else if (kind >= TRAFFIC.replied) {
        const replier = this.place.agentOf(mail);
        envelopes.push(answerEnvelopeOf(traffic, replier, this.place.judge.partyOf(replier)));
      }
    }
    return envelopes;
  }

  /** Stops every agent here and lets go of everything. */
  async shutdown(): Promise<void> {
    await Promise.all(
      [...this.place.cells()].map((cell) => cell.stop(systemStopped(`${cell.row.id} was stopped with it`))),
    );
    this.place.outbox.flush();
    await this.#cpu.close();
  }

  close(error: OrreryError = systemStopped('it was stopped')): void {
    this.place.close(error);
    this.#deps.line.close();
  }

  #obey(message: ControlMessage): void {
    const { place } = this;
    switch (message.t) {
      case 'table':
        place.router.apply(message.delta);
        return;
      case 'whole-table':
        place.router.replace(message.delta);
        return;
      case 'drain':
        place.router.drain();
        return;
      case 'config':
        this.configure(message.config);
        return;
      case 'link': {
        const port = this.#deps.received(message.port);
        const { place: id, seat, credit, side, death } = message;
        if (death === undefined) place.links.connect(id, seat, port, credit, side);
        else place.links.reconnect(id, seat, port, credit, side, death);
        return;
      }
      case 'unlink':
        place.links.disconnect(message.place);
        return;
      case 'host':
        void this.#host(message);
        return;
      case 'start':
        for (const slot of message.slots) this.#start(place.cellOf(slot));
        return;
      case 'halt':
        for (const slot of message.slots) place.cellOf(slot)?.halt();
        return;
      case 'stop':
        for (const slot of message.slots) void this.#stop(slot);
        return;
      case 'give-up':
        place.cellOf(message.slot)?.giveUp(message.reason);
        return;
      case 'replay':
        for (const replay of message.replays) this.#replay(replay);
        return;
      case 'inspect':
        place.log.inspect(message.isOn);
        return;
      case 'events':
        this.#deps.onEvents?.(message.events);
        return;
    }
  }

  async #host({ ref, change, agents, isAgain }: ControlMessage & { t: 'host' }): Promise<void> {
    try {
      const definitions = await Promise.all(agents.map((agent) => this.#definitionOf(agent, isAgain)));
      this.place.router.enter(change);
      agents.forEach(({ id }, at) => {
        const row = this.place.table.get(id);
        const definition = definitions[at] as AgentDefinition<unknown> | Error;
        if (row === undefined) return;
        this.place.host(
          row,
          definition instanceof Error ? unstartable(row.profile.card, definition) : definition,
        );
      });
      this.#tell({ t: 'hosted', ref, error: undefined });
    } catch (error) {
      this.#tell({ t: 'hosted', ref, error: errorToData(error, 'MODULE_INVALID') });
    }
  }

  async #definitionOf(
    { module, broken }: (ControlMessage & { t: 'host' })['agents'][number],
    isAgain: boolean,
  ): Promise<AgentDefinition<unknown> | Error> {
    if (broken !== undefined) return moduleInvalid(module, broken);
    try {
      return await this.#load(module);
    } catch (error) {
      if (isAgain) return error as Error;
      throw error;
    }
  }

  #start(cell: Cell | undefined): void {
    if (cell === undefined) return;
    if (cell.row.profile.lazy && cell.status === 'down' && !cell.wasStarted) {
      cell.sleepUntilMail();
      return;
    }
    this.place.startCell(cell);
  }

  async #stop(slot: number): Promise<void> {
    await this.place.cellOf(slot)?.stop();
    this.#tell({ t: 'ended', slot });
  }

  /** Delivers what a dead thread held, in that thread's name. The control thread keeps its copies and names of it. */
  #replay({ seat, flow, slot, lane, slab, mails }: Replay): void {
    const cell = this.place.cellOf(slot);
    const inFlow =
      this.place.links.orphan(seat, flow) ??
      new InFlow(seat, flow, slot, lane as Lane, new Int32Array(slab), flowBase(flow));
    this.place.links.adopt(inFlow);
    for (const data of mails) {
      const mail = mailFromData(data);
      mail.flow = inFlow;
      inFlow.received = mail.sequence;
      if (cell !== undefined) cell.deliver(mail, inFlow.lane);
      else
        this.place.refuseUnheld(mail, mail.tombstone ?? errorToData(notHere(mail.recipient, this.place.id)));
    }
  }

  async #load(module: string): Promise<AgentDefinition<unknown>> {
    const inline = this.#deps.inline.get(module) ?? this.#definitions.get(module);
    if (inline !== undefined) return inline;
    const definition = await importAgent(module);
    this.#definitions.set(module, definition);
    return definition;
  }

  #tell(message: PlaceMessage): void {
    this.#deps.line.post(message);
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

async function importAgent(module: string): Promise<AgentDefinition<unknown>> {
  let exported: Record<string, unknown>;
  try {
    exported = (await import(module)) as Record<string, unknown>;
  } catch (error) {
    throw moduleInvalid(module, `importing it failed: ${reasonOf(error)}`, error);
  }
  const definitions = Object.values(exported).filter(isDefinition);
  if (definitions.length === 0) throw moduleInvalid(module, 'it exports no agent made by defineAgent');
  if (new Set(definitions).size > 1) throw moduleInvalid(module, 'it exports more than one agent');
  const definition = definitions[0] as AgentDefinition<unknown>;
  try {
    parseOptions(AgentOptions, definition.options, 'agent'); // Another copy of the package may have looked less closely.
  } catch (error) {
    throw moduleInvalid(module, reasonOf(error), error);
  }
  return definition;
}

/** An agent made by another copy of the package is one too. */
const isDefinition = (value: unknown): value is AgentDefinition<unknown> =>
  value instanceof AgentDefinition ||
  (typeof value === 'object' &&
    value !== null &&
    value.constructor?.name === 'AgentDefinition' &&
    'handlers' in value);
