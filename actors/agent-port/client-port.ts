import type { StepWatch } from '../../runtime/protocol/step-watch.ts';
import { notSerialisable } from '../../runtime/protocol/errors.ts';
import { findUnserialisable } from '../../runtime/protocol/json.ts';
import type { Seams } from '../../runtime/protocol/seams.ts';
import type { SystemEvent } from '../../runtime/protocol/system-event.ts';
import type { Taint } from '../../runtime/protocol/taint.ts';
import {
  type ActorContext,
  type AgentClient,
  type Asking,
  type Behalf,
  clientOf,
  type Delegation,
  type DelegationRecord,
  type Sent,
  workOf,
} from '../../runtime/public.ts';
import { type AgentPort, type PortMessage, unsent, type Work } from './agent-port.ts';

/**
 * - `context`    of what the agent is handling: the port belongs to that work. @default to none
 * - `outlivesWork` what is begun through it goes on when the work is over.
 * - `isStarting` says whether agents are still to come: one that is not there yet is NOT_HERE. @default all are there
 */
export interface ClientPortOptions {
  readonly context?: ActorContext<never> | undefined;
  readonly outlivesWork?: boolean;
  readonly isStarting?: () => boolean;
}

/** Whose port it is before there is a client, and how that is opened. */
export interface EmbedderPortOptions {
  readonly agentId: string;
  readonly seams: Pick<Seams, 'clock' | 'newId'>;
  readonly open: () => Promise<AgentClient>;
}

/** The port of an agent in a running system. */
export const clientPort = (client: AgentClient, options: ClientPortOptions = {}): AgentPort =>
  new ClientPort({ agentId: client.agentId, seams: client.seams, open: async () => client }, options, client);

/** The port of the agent whose context this is, for the work that it has in hand. */
export const portOf = <State>(
  context: ActorContext<State>,
  options: Pick<ClientPortOptions, 'outlivesWork'> = {},
): AgentPort => {
  const own = context as ActorContext<never>;
  return clientPort(clientOf(own), { ...options, context: own });
};

/** The port of the embedder or of its loop, whose mailbox is made when the port is first opened. */
export const embedderPort = (options: EmbedderPortOptions): AgentPort => new ClientPort(options);

class ClientPort implements AgentPort {
  readonly #embedder: EmbedderPortOptions;
  readonly #context: ActorContext<unknown> | undefined;
  readonly #isStarting: () => boolean;
  readonly work: Work | undefined;
  #client: AgentClient | undefined;

  constructor(
    embedder: EmbedderPortOptions,
    { context, outlivesWork = false, isStarting = () => false }: ClientPortOptions = {},
    client?: AgentClient,
  ) {
    this.#embedder = embedder;
    this.#context = context as ActorContext<unknown> | undefined;
    this.#isStarting = isStarting;
    this.#client = client;
    this.work = context && workIn(context, outlivesWork);
  }

  get agentId(): string {
    return this.#embedder.agentId;
  }

  get seams(): Pick<Seams, 'clock' | 'newId'> {
    return this.#embedder.seams;
  }

  get capabilities(): readonly string[] {
    return this.#client?.capabilities ?? [];
  }

  get mailbox(): AgentPort['mailbox'] {
    return this.#client?.mailbox ?? { waiting: 0, capacity: 0 };
  }

  get taint(): Taint | undefined {
    return this.#client?.taint;
  }

  get records(): AgentPort['records'] {
    return this.#client?.records;
  }

  async open(): Promise<void> {
    this.#client ??= await this.#embedder.open();
  }

  handles(name: string): boolean {
    return this.#client?.handles(name) === true;
  }

  whoOffers(capabilities: readonly string[]): readonly string[] {
    return this.#opened.whoOffers(capabilities);
  }

  loadOf(agentId: string): number {
    return this.#opened.loadOf(agentId);
  }

  isKeptFor(agentId: string): boolean {
    return this.#client?.isKeptFor(agentId) === true;
  }

  judge(message: PortMessage) {
    return this.#opened.judge(message);
  }

  async send(message: PortMessage, onSent?: (envelopeId: string) => void): Promise<Sent> {
    let sent: Sent;
    try {
      // What JSON cannot carry would be found on its way to another thread, where nobody waits for it.
      const lost = findUnserialisable(message.payload, 'payload');
      if (lost !== undefined) throw notSerialisable(lost.path, lost.kind);
      sent = this.#opened.send(message, this.#context);
    } catch (error) {
      return unsent(message, error);
    }
    onSent?.(sent.envelopeId);
    const isToCome = sent.errorCode === 'AGENT_NOT_FOUND' && this.#isStarting();
    return isToCome ? { ...sent, errorCode: 'NOT_HERE' } : sent;
  }

  readonly ask = (asking: Asking): Promise<unknown> => this.#opened.ask(asking, this.#context);

  listen(): () => void {
    return () => undefined;
  }

  absorbTaint(taint: Taint): void {
    this.#client?.absorbTaint(taint, this.#context);
  }

  behalf(): Behalf | undefined {
    return this.#client?.behalfOf(this.#context);
  }

  delegate(): Delegation | undefined {
    return this.#context && this.#opened.delegationOf(this.#context);
  }

  delegateAgain(record: DelegationRecord): Delegation {
    return this.#opened.delegationAgain(record);
  }

  holdGrant(envelopeId: string, peer: string, untilMs: number): void {
    this.#opened.holdGrant(envelopeId, peer, untilMs);
  }

  endGrant(envelopeId: string, peer: string): void {
    this.#opened.endGrant(envelopeId, peer);
  }

  /** Made when it is asked for: most ports run no machine, and one is made for each piece of work. */
  get steps(): StepWatch {
    return {
      isOn: () => this.#client?.steps.isOn() === true,
      tell: (step) => this.#client?.steps.tell(step),
    };
  }

  note(event: Omit<SystemEvent, 'timestamp'>): void {
    this.#client?.note(event);
  }

  /** Whoever acts has opened the port. */
  get #opened(): AgentClient {
    return this.#client as AgentClient;
  }
}

/** The work of a context, as it is when it is looked at. */
function workIn(context: ActorContext<never>, outlivesWork: boolean): Work {
  const { envelopeId, correlationId, deadlineAtMs, isTriedAgain } = workOf(context);
  return {
    envelopeId,
    correlationId,
    deadlineAtMs,
    isTriedAgain,
    // Making a signal costs, and not everybody begins something.
    get signal() {
      return outlivesWork ? undefined : context.signal;
    },
    get isOver() {
      return workOf(context).isOver;
    },
  };
}
